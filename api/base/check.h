// CHECK: a condition that only our own mistake can break. External input never reaches one.
//
//   CHECK(index < count_) << "row " << index;
//   CHECK_EQ(free.size(), used.size());
//
// Prints file, line, the condition and the message to stderr and aborts, in every build type.
#pragma once

#include <sstream>

namespace maniple::internal {

class CheckFailure final {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

}  // namespace maniple::internal

#define CHECK(condition)                    \
  while (__builtin_expect(!(condition), 0)) \
  ::maniple::internal::CheckFailure(__FILE__, __LINE__, #condition).stream()
#define CHECK_EQ(a, b) CHECK((a) == (b))
#define CHECK_LE(a, b) CHECK((a) <= (b))
#define CHECK_LT(a, b) CHECK((a) < (b))
#define CHECK_GE(a, b) CHECK((a) >= (b))
#define CHECK_GT(a, b) CHECK((a) > (b))
