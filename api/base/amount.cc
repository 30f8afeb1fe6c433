#include "api/base/amount.h"

namespace maniple {

std::ostream& operator<<(std::ostream& out, Amount a) { return out << a.units(); }

}  // namespace maniple
