// The valuation of nodes against plain loops that remember nothing. The fear: a memo that answers
// for another room, or a shortcut that skips a pod which would have fitted.
#include "plugins/framework/expected_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "api/base/random.h"

namespace maniple {
namespace {

// The same node as one would write it down: a list of GPUs, each with what is left of it.
struct PlainNode {
  int64_t cpu = 0, memory = 0;
  uint32_t model = 0;
  std::vector<int32_t> gpus;
  std::array<int32_t, kMostFillUnits> units{};

  bool Put(const FillRequest& pod) {
    PlainNode after = *this;
    after.cpu -= pod.cpu;
    after.memory -= pod.memory;
    if (after.cpu < 0 || after.memory < 0) return false;
    for (size_t i = 0; i < kMostFillUnits; ++i) {
      after.units[i] -= pod.units[i];
      if (after.units[i] < 0) return false;
    }
    if (pod.gpus > 0 && ((pod.models >> model) & 1) == 0) return false;
    for (int32_t i = 0; i < pod.gpus; ++i) {
      int32_t* tightest = nullptr;
      for (int32_t& gpu : after.gpus) {
        if (gpu >= pod.milli && (tightest == nullptr || gpu < *tightest)) tightest = &gpu;
      }
      if (tightest == nullptr) return false;
      *tightest -= pod.milli;
    }
    *this = after;
    return true;
  }
};

constexpr std::array<int32_t, kMostFillUnits> kWorth = {142, 428};

FillRequest RandomRequest(Random& random) {
  FillRequest request{.cpu = static_cast<int64_t>(random.Below(9)) * 1000,
                      .memory = static_cast<int64_t>(random.Below(9))};
  switch (random.Below(4)) {
    case 0:
      break;
    case 1:
      request.gpus = 1;
      request.milli = 1 + static_cast<int32_t>(random.Below(1000));
      break;
    case 2:
      request.gpus = 1 << random.Below(4);
      break;
    case 3:
      request.units[random.Below(2)] = 1 + static_cast<int32_t>(random.Below(3));
      break;
  }
  if (random.OneIn(3)) request.models = 1 + random.Below(7);
  request.frequency = 1 + static_cast<int64_t>(random.Below(20));
  return request;
}

PlainNode RandomNode(Random& random) {
  PlainNode node{.cpu = static_cast<int64_t>(random.Below(65)) * 1000,
                 .memory = static_cast<int64_t>(random.Below(65)),
                 .model = static_cast<uint32_t>(random.Below(3))};
  const uint64_t gpus = random.Below(9);
  for (uint64_t i = 0; i < gpus; ++i) {
    node.gpus.push_back(random.OneIn(2) ? 1000 : static_cast<int32_t>(random.Below(1001)));
  }
  node.units[0] = static_cast<int32_t>(random.Below(15));
  node.units[1] = static_cast<int32_t>(random.Below(3));
  return node;
}

FillRoom RoomOf(const PlainNode& node) {
  FillRoom room{.cpu = node.cpu, .memory = node.memory, .model = node.model, .units = node.units};
  for (const int32_t gpu : node.gpus) {
    if (gpu == kGpuMilli) {
      ++room.whole;
    } else if (gpu > 0) {
      room.AddPart(gpu);
    }
  }
  return room;
}

int64_t PlainWork(const FillRequest& pod) {
  int64_t work = int64_t{pod.gpus} * pod.milli;
  for (size_t i = 0; i < kMostFillUnits; ++i) work += int64_t{pod.units[i]} * kWorth[i];
  return work;
}

struct Case {
  explicit Case(uint64_t seed) : random(seed) {
    const uint64_t kinds = 1 + random.Below(40);
    for (uint64_t i = 0; i < kinds; ++i) typical.push_back(RandomRequest(random));
    typical.push_back({.cpu = 1000, .gpus = 1, .frequency = 5});
    options.unit_worth = kWorth;
    options.memo_bits = 4;  // so that most answers displace another one
    options.seed = seed;
  }
  Random random;
  std::vector<FillRequest> typical;
  FillOptions options;
};

TEST(ExpectedFill, EqualsPlainLoopsOverItsSequencesOnRandomNodes) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Case random_case(seed);
    const ExpectedFill fill(random_case.typical, random_case.options);
    for (int i = 0; i < 20; ++i) {
      const PlainNode node = RandomNode(random_case.random);
      int64_t accepted = 0;
      for (int32_t k = 0; k < random_case.options.sequences; ++k) {
        PlainNode filling = node;
        for (const uint8_t next : fill.SequenceOf(k)) {
          if (filling.Put(random_case.typical[next])) {
            accepted += PlainWork(random_case.typical[next]);
          }
        }
      }
      ASSERT_EQ(fill.FillOf(RoomOf(node)), accepted * 1000 / random_case.options.sequences)
          << "seed " << seed << ", node " << i;
    }
  }
}

TEST(ExpectedFill, CountsAsFragmentWhatATypicalPodCannotUse) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Case random_case(seed);
    const ExpectedFill fill(random_case.typical, random_case.options);
    const PlainNode node = RandomNode(random_case.random);
    double fragment = 0, demand = 0;
    for (const FillRequest& pod : random_case.typical) {
      const double weight = static_cast<double>(pod.frequency * PlainWork(pod));
      demand += weight;
      int64_t lost = 0;
      PlainNode trial = node;
      const bool runs = trial.Put(pod);
      for (const int32_t gpu : node.gpus) {
        if (!runs || pod.gpus == 0 || gpu < pod.milli) lost += gpu;
      }
      for (size_t i = 0; i < kMostFillUnits; ++i) {
        if (!runs || pod.units[i] == 0) lost += int64_t{node.units[i]} * kWorth[i];
      }
      fragment += weight * static_cast<double>(lost);
    }
    EXPECT_NEAR(static_cast<double>(fill.FragmentOf(RoomOf(node))), 1000 * fragment / demand, 1000)
        << "seed " << seed;
  }
}

TEST(ExpectedFill, RemembersNothingButTheTruthAlsoForSeveralThreads) {
  Case random_case(7);
  const ExpectedFill fill(random_case.typical, random_case.options);
  std::vector<FillRoom> rooms;
  std::vector<int64_t> expected;
  for (int i = 0; i < 60; ++i) {
    rooms.push_back(RoomOf(RandomNode(random_case.random)));
    expected.push_back(fill.FillOf(rooms.back()) -
                       fill.FragmentOf(rooms.back()) * random_case.options.fragment_weight / 1000);
  }
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random random(t);
      for (int i = 0; i < 2000; ++i) {
        const uint64_t at = random.Below(rooms.size());
        if (fill.ValueOf(rooms[at]) != expected[at]) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(ExpectedFill, NeverFallsWhenThereIsMoreRoom) {
  // Not so in general: a larger pod may come first and leave a worse remnant. With pods of one
  // size it has to hold.
  const ExpectedFill fill({{.cpu = 4000, .gpus = 1}}, {});
  int64_t last = -1;
  for (int32_t gpus = 0; gpus <= 8; ++gpus) {
    const int64_t value = fill.FillOf({.cpu = 20'000, .whole = gpus});
    EXPECT_EQ(value, std::min(gpus, 5) * 1'000'000);
    EXPECT_GE(value, last);
    last = value;
  }
}

TEST(ExpectedFill, KeepsWholeNodesWholeForRareLargePods) {
  const ExpectedFill fill({{.gpus = 1, .frequency = 90}, {.gpus = 8, .frequency = 10}}, {});
  const auto loss_on = [&](int32_t whole) {
    return fill.ValueOf({.whole = whole}) - fill.ValueOf({.whole = whole - 1});
  };
  EXPECT_LT(loss_on(3), loss_on(8));
  EXPECT_LT(loss_on(7), loss_on(8));
}

TEST(ModelPrices, RiseWithTheDemandOfThoseWhoInsistUpToTheWholePrice) {
  // A third of the GPU work insists on model 0, which is a fifth of the GPUs; another third on one
  // of the models 1 and 2, nine tenths of which are of model 1.
  const std::vector<FillRequest> typical = {{.gpus = 1, .models = 1, .frequency = 4},
                                            {.gpus = 4, .models = 6, .frequency = 1},
                                            {.gpus = 2, .frequency = 2},
                                            {.cpu = 4000, .models = 1, .frequency = 100}};
  const std::vector<int64_t> gpus = {20, 72, 8, 0};
  EXPECT_EQ(PricesOf(ExpectedFill(typical, {}), gpus, 300),
            (std::vector<int64_t>{300'000, 125'000, 125'000, 0}));
  EXPECT_EQ(PricesOf(ExpectedFill({{.gpus = 1}}, {}), gpus, 300),
            (std::vector<int64_t>{0, 0, 0, 0}));
}

TEST(ScoreOfLoss, IsHalfWhereThePodLosesWhatItTakesAndFallsWithTheLoss) {
  EXPECT_EQ(ScoreOfLoss(-5, 1000), 100);
  EXPECT_EQ(ScoreOfLoss(0, 1000), 100);
  EXPECT_EQ(ScoreOfLoss(1'000'000, 1000), 50);
  EXPECT_EQ(ScoreOfLoss(8'000'000, 8000), 50);
  EXPECT_EQ(ScoreOfLoss(3'000'000, 1000), 25);
  EXPECT_EQ(ScoreOfLoss(1'000'000, 0), 50);
  EXPECT_EQ(ScoreOfLoss(int64_t{1} << 50, 142), 0);
}

TEST(FillRoom, KeepsPartsInOrderAndTakesTheTightest) {
  FillRoom room{.whole = 1};
  for (const int32_t part : {700, 300, 500}) room.AddPart(part);
  Take(room, {.gpus = 1, .milli = 400});
  EXPECT_EQ(room.whole, 1);
  EXPECT_EQ(std::vector<int16_t>(room.parts.end() - 4, room.parts.end()),
            (std::vector<int16_t>{0, 100, 300, 700}));
  Take(room, {.gpus = 1, .milli = 700});
  Take(room, {.gpus = 1, .milli = 900});
  EXPECT_EQ(room.whole, 0);
  EXPECT_EQ(std::vector<int16_t>(room.parts.end() - 4, room.parts.end()),
            (std::vector<int16_t>{0, 100, 100, 300}));
  EXPECT_FALSE(Fits(room, {.gpus = 1, .milli = 301}));
  EXPECT_FALSE(Fits(room, {.gpus = 1, .milli = 100, .models = 2}));
}

}  // namespace
}  // namespace maniple
