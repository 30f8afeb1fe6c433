// What a pod asks for, against a pod that is played from its first container to its last. Fears: a
// sidecar counts for containers that have ended before it starts; of two peaks the smaller stands;
// zero, or the slot of the pod itself, is asked for; the order of resources decides.
#include "api/codec/decode_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/base/random.h"

namespace maniple::codec_decode_requests_test {
namespace {

constexpr std::array<absl::string_view, 4> kResources = {"cpu", "memory", "nvidia.com/gpu", "pods"};
using Amounts = std::map<absl::string_view, int64_t>;  // cpu in milli

RequestTable TableOf(const Amounts& amounts) {
  RequestTable table;
  for (const auto& [resource, amount] : amounts) {
    const std::string text = absl::StrCat(amount, resource == "cpu" ? "m" : "");
    table.FillFrom({resource, *Quantity::Parse(text)});
  }
  return table;
}

Amounts Drawn(Random& random) {
  Amounts amounts;
  for (const absl::string_view resource : kResources) {
    if (random.OneIn(2)) amounts[resource] = static_cast<int64_t>(random.Below(5));
  }
  return amounts;
}

void Add(const Amounts& more, Amounts& to) {
  for (const auto& [resource, amount] : more) to[resource] += amount;
}

void RaiseTo(const Amounts& other, Amounts& peak) {
  for (const auto& [resource, amount] : other) peak[resource] = std::max(peak[resource], amount);
}

// A pod, and the most that it holds at any time.
struct Played {
  PodAsk ask;
  Amounts peak;
};

Played Play(Random& random) {
  Played out;
  Amounts running;
  for (uint64_t left = random.Below(5); left > 0; --left) {
    const Amounts asks = Drawn(random);
    const bool stays = random.OneIn(2);
    out.ask.init_containers.push_back(
        {.name = "i", .requests = TableOf(asks), .always_restarts = stays});
    Amounts now = running;
    Add(asks, now);
    RaiseTo(now, out.peak);
    if (stays) running = now;
  }
  for (uint64_t left = random.Below(4); left > 0; --left) {
    const Amounts asks = Drawn(random);
    out.ask.containers.push_back({.name = "c", .requests = TableOf(asks)});
    Add(asks, running);
  }
  RaiseTo(running, out.peak);
  const Amounts overhead = Drawn(random);
  out.ask.overhead = TableOf(overhead);
  Add(overhead, out.peak);
  return out;
}

TEST(RequestsOfAPod, AreTheMostThatThePodHoldsAtAnyTime) {
  Random random(8);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(round);
    const Played played = Play(random);
    std::map<std::string, int64_t> expected, got;
    for (const auto& [resource, amount] : played.peak) {
      if (amount > 0 && resource != "pods") expected[std::string(resource)] = amount;
    }
    const ResourceAmounts amounts = EffectiveRequests(played.ask);
    ASSERT_TRUE(std::is_sorted(amounts.begin(), amounts.end()));
    for (const ResourceAmount& amount : amounts) got[amount.resource] = amount.amount.units();
    ASSERT_EQ(got, expected);
  }
}

// cpu and memory are the pod's own where it says them; nothing else is.
TEST(RequestsOfAPod, WhatThePodItselfSaysStandsInsteadOfItsContainers) {
  Random random(9);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    Played played = Play(random);
    played.ask.overhead = {};
    const ResourceAmounts without = EffectiveRequests(played.ask);
    Amounts said = Drawn(random);
    said.erase("pods");
    said.erase("nvidia.com/gpu");
    played.ask.pod_level = ResourceAsk{.requests = TableOf(said), .limits = {}};
    std::map<std::string, int64_t> expected, got;
    for (const ResourceAmount& amount : without) expected[amount.resource] = amount.amount.units();
    for (const auto& [resource, amount] : said) expected[std::string(resource)] = amount;
    std::erase_if(expected, [](const auto& entry) { return entry.second == 0; });
    for (const ResourceAmount& amount : EffectiveRequests(played.ask)) {
      got[amount.resource] = amount.amount.units();
    }
    ASSERT_EQ(got, expected);
  }
}

TEST(RequestsOfAPod, TablesKeepTheirOrderAndWhatTheyHave) {
  Random random(10);
  for (int round = 0; round < 500; ++round) {
    const Amounts mine = Drawn(random), theirs = Drawn(random);
    RequestTable filled = TableOf(mine), raised = TableOf(mine);
    filled.FillFrom(TableOf(theirs));
    raised.RaiseTo(TableOf(theirs));
    for (const RequestTable* table : {&filled, &raised}) {
      ASSERT_TRUE(std::is_sorted(table->entries().begin(), table->entries().end(),
                                 [](const auto& a, const auto& b) { return a.first < b.first; }));
    }
    for (const absl::string_view resource : kResources) {
      const auto in = [&](const Amounts& of) {
        return of.contains(resource) ? of.at(resource) : int64_t{-1};
      };
      const int64_t first = in(mine) >= 0 ? in(mine) : in(theirs);
      ASSERT_EQ(filled.Has(resource), first >= 0);
      ASSERT_EQ(TableOf({{resource, std::max<int64_t>(0, first)}}).Of(resource),
                filled.Of(resource));
      const int64_t most = std::max(in(mine), in(theirs));
      ASSERT_EQ(raised.Has(resource), most >= 0);
      ASSERT_EQ(TableOf({{resource, std::max<int64_t>(0, most)}}).Of(resource),
                raised.Of(resource));
    }
  }
}

}  // namespace
}  // namespace maniple::codec_decode_requests_test
