// The section `http` of the configuration file: what the flags --http, --health, --http-insecure
// and --tls-… say, which win where they are given.
//
//   http:
//     address: 0.0.0.0:10259
//     healthAddress: 0.0.0.0:10260
//     tls: {certFile: /etc/maniple/tls.crt, privateKeyFile: /etc/maniple/tls.key}
#pragma once

#include <string>

#include "scheduler/app/config/config_section.h"
#include "scheduler/app/config/tls_files.h"

namespace maniple {

struct HttpConfig {
  std::string address;         // HOST:PORT; "" = none
  std::string health_address;  // the same
  bool insecure = false;
  TlsFiles tls;
};

void ReadHttpConfig(const Json& map, const std::string& path, Problems& problems, HttpConfig& out);

}  // namespace maniple
