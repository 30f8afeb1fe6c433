// Reads objects of producers for the decoder.
#pragma once

#include <memory>

#include "api/codec/foreign_reader.h"
#include "api/model/foreign.h"

namespace maniple {

// For the kinds of the table, which it copies.
[[nodiscard]] std::unique_ptr<const ForeignReader> MakeForeignReader(ForeignKinds kinds);

}  // namespace maniple
