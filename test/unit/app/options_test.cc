// Flags and the configuration file together. Fear: half of a certificate is dropped in silence.
#include "scheduler/app/config/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/support/temp_folder.h"
#include "test/support/tls_server.h"

namespace maniple::app_options_test {
namespace {

using ::testing::HasSubstr;

TEST(SchedulerFlags, AKeyWithoutACertificateIsRefused) {
  const char* argv[] = {"maniple-scheduler", "--server", "http://h", "--tls-private-key-file", "k"};
  const ParsedFlags flags = ParseSchedulerFlags(5, argv);
  EXPECT_FALSE(flags.options.has_value());
  EXPECT_EQ(flags.exit_code, 2);
  EXPECT_THAT(flags.output, HasSubstr("are given together"));
}

TEST(SchedulerFlags, TheFilesAuthorityOfClientsStandsBesideACertificateOfFlags) {
  const TempFolder folder;
  const TestCertificate authority("authority", "", nullptr), own("own", "", nullptr);
  const std::string authority_file = folder.Write("ca.crt", authority.pem());
  const std::string certificate = "--tls-cert-file=" + folder.Write("tls.crt", own.pem());
  const std::string key = "--tls-private-key-file=" + folder.Write("tls.key", own.key_pem());
  const std::string config =
      "--config=" +
      folder.Write("c.yaml",
                   "apiVersion: config.maniple.dev/v1alpha1\nkind: SchedulerConfiguration\n"
                   "http: {tls: {certFile: " +
                       folder.In("tls.crt") + ", privateKeyFile: " + folder.In("tls.key") +
                       ", clientCAFile: " + authority_file + "}}\n");
  const char* argv[] = {"maniple-scheduler", "--server",  "http://h",           config.c_str(),
                        certificate.c_str(), key.c_str(), "--admin=127.0.0.1:0"};
  const ParsedFlags flags = ParseSchedulerFlags(7, argv);
  ASSERT_TRUE(flags.options.has_value()) << flags.output;
  EXPECT_EQ(flags.options->tls.client_authority, authority_file);
}

}  // namespace
}  // namespace maniple::app_options_test
