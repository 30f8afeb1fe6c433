// The page for browsers without scripts: the same facts as HTML tables, as of one moment. Pure.
#pragma once

#include <string>

#include "scheduler/page/page_rows.h"
#include "scheduler/report/view.h"

namespace maniple {

[[nodiscard]] std::string PageTables(const ClusterView& view, const PageReader& reader);

}  // namespace maniple
