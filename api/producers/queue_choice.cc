#include "api/producers/queue_choice.h"

namespace maniple {
namespace {

// Null: the name is not mapped.
const std::string* Mapped(absl::string_view foreign, const ProducerOptions& options) {
  for (const auto& [theirs, ours] : options.queues) {
    if (theirs == foreign) return &ours;
  }
  return nullptr;
}

// "" where the name stands for whatever is the default.
std::string QueueNamed(absl::string_view foreign, const ProducerOptions& options) {
  if (const std::string* ours = Mapped(foreign, options); ours != nullptr) return *ours;
  const bool any = foreign == "default" || foreign == "default-queue";
  return any ? options.default_queue : std::string(foreign);
}

}  // namespace

absl::string_view SmallestMark(MarkField field, const std::vector<PodMarks>& members) {
  absl::string_view smallest;
  for (const PodMarks& marks : members) {
    const absl::string_view text = marks.Get(field);
    if (!text.empty() && (smallest.empty() || text < smallest)) smallest = text;
  }
  return smallest;
}

std::string ChooseQueue(const ForeignSpec* declared, const ForeignSpec* owner,
                        const std::vector<PodMarks>& members, const ProducerOptions& options) {
  std::string queue;
  if (declared != nullptr) queue = QueueNamed(declared->queue, options);
  // Our label names a Queue of ours.
  if (queue.empty()) queue = std::string(SmallestMark(MarkField::kOwnQueue, members));
  for (const MarkField field :
       {MarkField::kKaiQueue, MarkField::kVolcanoQueue, MarkField::kVolcanoQueueName,
        MarkField::kYunikornQueue, MarkField::kYunikornBareQueue}) {
    if (queue.empty()) queue = QueueNamed(SmallestMark(field, members), options);
  }
  // What Kueue has admitted has its quota, unless somebody says which Queue of ours that is.
  const std::string* admitted = Mapped(SmallestMark(MarkField::kKueueQueue, members), options);
  if (queue.empty() && admitted != nullptr) queue = *admitted;
  if (queue.empty() && owner != nullptr) queue = QueueNamed(owner->queue, options);
  for (const ForeignSpec* object : {declared, owner}) {
    if (queue.empty() && object != nullptr) queue = object->own_queue;
    if (queue.empty() && object != nullptr) queue = QueueNamed(object->queue_label, options);
  }
  return queue;
}

bool BringsQuota(const std::vector<PodMarks>& members, const ProducerOptions& options) {
  if (!options.kueue_brings_quota) return false;
  bool some = false;
  for (const PodMarks& marks : members) {
    if (marks.Has(MarkField::kAnchor)) continue;
    if (!marks.Has(MarkField::kKueueAdmitted)) return false;
    some = true;
  }
  return some;
}

}  // namespace maniple
