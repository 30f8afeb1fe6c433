// The parts of an object that are written apart from each other.
#pragma once

namespace maniple::devcluster {

// What part of the object a write may change.
enum class WritePart { kMain, kStatus };

}  // namespace maniple::devcluster
