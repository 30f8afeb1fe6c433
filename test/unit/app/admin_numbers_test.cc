// Numbers for programs. Fears: a count that is text, and so greater than any number; a quantity or
// a name of digits that becomes a number.
#include "scheduler/app/answers/admin_numbers.h"

#include <gtest/gtest.h>

namespace maniple::app_admin_numbers_test {
namespace {

TEST(AdminNumbers, AreNumbersWhateverProtobufWrites) {
  const Json queues = *Json::Parse(
      R"({"items":[{"name":"7","pending":"1","fairShare":"125","usage":[{"used":"12"}]}]})");
  const Json plain = WithNumbers("/queues", queues);
  EXPECT_EQ(plain.Dump(),
            R"({"items":[{"name":"7","pending":1,"fairShare":125,"usage":[{"used":"12"}]}]})");
  const Json gang = *Json::Parse(R"({"position":"3","plannedStart":{"at":"4"},"nodes":["5"]})");
  EXPECT_EQ(WithNumbers("/explain", gang).Dump(),
            R"({"position":3,"plannedStart":{"at":4},"nodes":["5"]})");
}

TEST(AdminNumbers, WhatIsNoNumberAndWhatNobodyKnowsStaysAsItIs) {
  const Json odd = *Json::Parse(R"({"items":[{"pending":"many"},7,"text"],"more":"1"})");
  EXPECT_EQ(WithNumbers("/queues", odd), odd);
  EXPECT_EQ(WithNumbers("/nowhere", odd), odd);
  EXPECT_EQ(WithNumbers("/queues", Json("text")), Json("text"));
}

}  // namespace
}  // namespace maniple::app_admin_numbers_test
