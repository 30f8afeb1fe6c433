#include "scheduler/app/grpc_log.h"

#include <grpc/support/log.h>

#include "api/base/log.h"

namespace maniple {

void LogWhatGrpcSays() {
  gpr_set_log_function([](gpr_log_func_args* said) { VLOG(3) << "gRPC: " << said->message; });
}

}  // namespace maniple
