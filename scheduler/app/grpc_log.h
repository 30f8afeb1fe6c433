// What gRPC says goes to our log, at verbosity 3: its errors are told in our own words, in one
// line.
#pragma once

namespace maniple {

// Call before the first use of gRPC.
void LogWhatGrpcSays();

}  // namespace maniple
