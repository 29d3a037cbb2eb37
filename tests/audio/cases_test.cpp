// Recordings of users' reports, from the shared folder: what is heard, when, and what is said.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/open.h"
#include "audio/sounds.h"
#include "test_paths.h"

namespace mynah {
namespace {

// Reads the file `name` of a case, or skips the test.
#define MYNAH_CASE(path, name)                                                   \
  const std::string path = test::shared_path("cases/hear/" + std::string(name)); \
  MYNAH_SKIP_WITHOUT(path)

test::Heard hear(const std::string& path, AudioOpenOptions options = {}) {
  options.media_program = MYNAH_MEDIA_PROGRAM;
  return test::hear(path, options);
}

double seconds(const test::Heard& heard) {
  return static_cast<double>(heard.samples.size()) / 16000;
}

TEST(Cases, ARecordingWithADateIsHeard) {
  MYNAH_CASE(path, "dated-mp4-mkv-refused/date.m4a");
  const auto heard = hear(path);
  EXPECT_EQ(heard.error, "");
  EXPECT_NEAR(seconds(heard), 3.96, 0.1);
}

}  // namespace
}  // namespace mynah
