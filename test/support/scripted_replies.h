// An API server, in a thread of its own, that gives one reply after the other, and the last one for
// ever.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/support/scripted_server.h"

namespace maniple {

class ScriptedReplies final {
 public:
  explicit ScriptedReplies(std::vector<std::string> replies)
      : replies_(std::move(replies)), thread_([this] { Serve(); }) {}
  ~ScriptedReplies() {
    ended_ = true;
    thread_.join();
  }
  [[nodiscard]] std::string Kubeconfig() const {
    return absl::StrCat("{current-context: c, contexts: [{name: c, context: {cluster: k}}], ",
                        "clusters: [{name: k, cluster: {server: '", server_.url(), "'}}]}");
  }
  [[nodiscard]] size_t asked() const { return asked_; }

 private:
  void Serve() {
    std::vector<ServerConnection> open;
    while (!ended_) {
      if (ServerConnection fresh = server_.Accept(); fresh.open()) open.push_back(std::move(fresh));
      for (ServerConnection& connection : open) {
        if (connection.TakeRequest().empty()) continue;
        connection.Write(replies_[std::min(asked_++, replies_.size() - 1)]);
      }
      std::this_thread::yield();
    }
  }

  const std::vector<std::string> replies_;
  ScriptedServer server_;
  std::atomic<size_t> asked_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace maniple
