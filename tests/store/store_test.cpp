#include "store/store.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/catalogue.h"
#include "store/files.h"
#include "store/install.h"
#include "store/sha256.h"
#include "store/url.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah {
namespace {

using test::TemporaryFolder;
using test::write_file;
using ::testing::HasSubstr;

class StoreOnDisk : public ::testing::Test {
 protected:
  void put(const std::string& name) {
    StoredModel model;
    model.name = name;
    model.family = "whisper";
    model.storage = "f16";
    model.folder = store.model_folder(name);
    write_file(model.path(), "weights of " + name);
    model.sha256 = *sha256_of_file(model.path());
    model.size = bytes_on_disk(model.path());
    model.files = {
        {.name = "model.bin", .from = "here", .sha256 = "x", .size = 7, .proof = "none"}};
    ASSERT_TRUE(write_source_json(model));
  }

  TemporaryFolder folder;
  Store store{{.home = folder / "home", .cache = folder / "cache"}};
};

TEST_F(StoreOnDisk, lists_models_by_name_and_names_damaged_ones) {
  put("tiny.en");
  put("base");
  write_file(store.model_folder("broken") + "/source.json", "{\"name\": 3, \"file\": []}");
  write_file(store.model_folder("empty") + "/model.gguf", "");
  write_file(store.model_folder(".half.123.tmp") + "/model.gguf", "");
  std::vector<std::string> damaged;
  const auto models = store.list(&damaged);
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].name, "base");
  EXPECT_EQ(models[1].name, "tiny.en");
  EXPECT_EQ(models[1].files.front().size, 7U);
  EXPECT_THAT(damaged, ::testing::UnorderedElementsAre("broken", "empty"));
}

TEST_F(StoreOnDisk, is_empty_where_there_is_no_folder) {
  EXPECT_TRUE(store.list().empty());
}

TEST_F(StoreOnDisk, resolves_short_names_and_what_others_call_a_model) {
  put("tiny.en");
  const std::string path = store.model_folder("tiny.en") + "/model.gguf";
  for (const char* name :
       {"tiny.en", "ggml-tiny.en.bin", "models/ggml-tiny.en.bin", "whisper-tiny.en",
        "openai/whisper-tiny.en", "Systran/faster-whisper-tiny.en", "ggml-tiny.en-q5_1.bin"}) {
    const auto got = store.resolve(name);
    ASSERT_TRUE(got.has_value()) << name << ": " << got.error().message;
    EXPECT_EQ(got->path, path);
    EXPECT_EQ(got->name, "tiny.en");
  }
}

TEST_F(StoreOnDisk, takes_a_path_that_exists_as_it_is) {
  put("tiny.en");
  write_file(folder / "ggml-tiny.en.bin", "a file");
  EXPECT_EQ(store.resolve(folder / "ggml-tiny.en.bin")->path, folder / "ggml-tiny.en.bin");
}

TEST_F(StoreOnDisk, says_what_to_pull_for_a_model_that_is_not_here) {
  const auto got = store.resolve("turbo");
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::NotFound);
  EXPECT_THAT(got.error().message, HasSubstr("`mynah pull large-v3-turbo` (1.6 GB, licence MIT)"));
}

TEST_F(StoreOnDisk, suggests_the_nearest_name) {
  put("my-own-model");
  EXPECT_THAT(store.resolve("tiny.em").error().message, HasSubstr("did you mean tiny.en?"));
  EXPECT_THAT(store.resolve("own-mo").error().message, HasSubstr("did you mean my-own-model?"));
  EXPECT_THAT(store.resolve("my-own-modle").error().message, HasSubstr("my-own-model"));
  EXPECT_THAT(store.resolve("no/such/file.gguf").error().message,
              HasSubstr("nothing at no/such/file.gguf"));
}

TEST_F(StoreOnDisk, verify_finds_changed_and_cut_files) {
  put("tiny.en");
  const auto model = store.find("tiny.en");
  StoreObserver quiet;
  EXPECT_TRUE(store.verify(*model, quiet, {}));
  write_file(model->path(), "Weights of tiny.en");
  EXPECT_THAT(store.verify(*model, quiet, {}).error().message, HasSubstr("wanted SHA-256"));
  write_file(model->path(), "weights");
  EXPECT_THAT(store.verify(*model, quiet, {}).error().message,
              HasSubstr("wanted 18 bytes, found 7"));
  EXPECT_THAT(store.verify(*model, quiet, {}).error().message, HasSubstr("pull it again"));
  auto imported = *model;
  imported.source = "import: /tmp/tiny.en.pt";
  EXPECT_THAT(store.verify(imported, quiet, {}).error().message, HasSubstr("import it again"));
  std::filesystem::remove(model->path());
  EXPECT_FALSE(store.verify(*model, quiet, {}).has_value());
}

// The pinned digests of Kokoro's voices are those of the files themselves.
TEST(Catalogue, knows_the_voices_of_the_hub) {
  const std::string voices = test::shared_path("weights/kokoro-voices");
  MYNAH_SKIP_WITHOUT(voices);
  const auto& hub = std::get<HubSource>(find_in_catalogue(kKokoroVoices)->sources.front());
  EXPECT_EQ(hub.files.size(), 54U);
  EXPECT_EQ(hub.sha256.size(), 54U);
  int known = 0;
  for (const auto& entry : std::filesystem::directory_iterator(voices)) {
    const std::string file = "voices/" + entry.path().filename().string();
    ASSERT_TRUE(hub.sha256.contains(file)) << file;
    EXPECT_EQ(hub.sha256.at(file), *sha256_of_file(entry.path().string())) << file;
    ++known;
  }
  EXPECT_GE(known, 27);
}

TEST_F(StoreOnDisk, removes_what_was_packed_of_a_model_and_of_a_sets_files) {
  put("tiny.en");
  const std::string word = folder / "lexicon.json";
  write_file(word, "{}");
  StoredModel words;
  words.name = "words";
  words.family = "english-phonemes";
  const auto set = install_files(store, {word}, words, {});
  ASSERT_TRUE(set) << set.error().message;
  const auto pack = [&](const std::string& digest, const std::string& bytes) {
    write_file((folder / "cache/packed/") + digest.substr(0, 16) + "/x.packed", bytes);
  };
  pack(store.find("tiny.en")->sha256, "123");
  pack(set->set.front().sha256, "12345");
  EXPECT_EQ(store.remove("tiny.en")->packed, 3U);
  EXPECT_EQ(store.remove("words")->packed, 5U);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "cache/packed"));
}

TEST_F(StoreOnDisk, removes_models_whole_or_damaged_and_says_what_it_freed) {
  put("tiny.en");
  const uint64_t bytes = bytes_on_disk(store.model_folder("tiny.en"));
  EXPECT_EQ(store.remove("whisper-tiny.en")->model, bytes);
  EXPECT_FALSE(std::filesystem::exists(store.model_folder("tiny.en")));
  write_file(store.model_folder("broken") + "/model.gguf", "12345");
  EXPECT_EQ(store.remove("broken")->model, 5U);
  EXPECT_EQ(store.remove("broken").error().code, ErrorCode::NotFound);
  EXPECT_EQ(store.remove("../..").error().code, ErrorCode::NotFound);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "home/models"));
}

void expect_sound(const WheelSource& wheel) {
  EXPECT_TRUE(is_sha256(wheel.sha256)) << wheel.package;
  EXPECT_FALSE(wheel.files.empty()) << wheel.package;
  for (const WheelMember& member : wheel.files) {
    EXPECT_TRUE(is_sha256(member.sha256)) << member.path;
  }
}

TEST(Catalogue, has_sound_entries_with_names_of_their_own) {
  std::set<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    EXPECT_TRUE(is_model_name(entry.name)) << entry.name;
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    for (const std::string& alias : entry.aliases) {
      EXPECT_TRUE(names.insert(alias).second) << alias;
    }
    EXPECT_FALSE(entry.licence.empty()) << entry.name;
    EXPECT_TRUE(parse_url(entry.licence_url).has_value()) << entry.name;
    EXPECT_GT(entry.download_bytes, 0U) << entry.name;
    ASSERT_FALSE(entry.sources.empty()) << entry.name;
    for (const ModelSource& source : entry.sources) {
      if (const auto* hub = std::get_if<HubSource>(&source)) {
        EXPECT_FALSE(hub->files.empty()) << entry.name;
        for (const auto& [file, digest] : hub->sha256) {
          EXPECT_NE(std::ranges::find(hub->files, file), hub->files.end()) << file;
          EXPECT_TRUE(is_sha256(digest)) << file;
        }
      } else if (const auto* wheel = std::get_if<WheelSource>(&source)) {
        expect_sound(*wheel);
      } else {
        const auto& joined = std::get<JoinedWheels>(source);
        EXPECT_TRUE(is_sha256(joined.sha256)) << entry.name;
        EXPECT_GT(joined.wheels.size(), 1U) << entry.name;
        std::ranges::for_each(joined.wheels, expect_sound);
      }
    }
    for (const std::string& companion : entry.companions) {
      EXPECT_NE(find_in_catalogue(companion), nullptr) << companion;
    }
    EXPECT_NE(kind_of_family(entry.family), "model") << entry.family;
  }
}

TEST(Catalogue, knows_what_others_call_a_model) {
  const auto name_of = [](std::string_view text) {
    const CatalogueEntry* entry = find_in_catalogue(text);
    return entry == nullptr ? std::string() : entry->name;
  };
  EXPECT_EQ(name_of("large"), "large-v3");
  EXPECT_EQ(name_of("ggml-large-v3-turbo-q5_0.bin"), "large-v3-turbo");
  EXPECT_EQ(name_of("distil-whisper/distil-large-v3"), "distil-large-v3");
  EXPECT_EQ(name_of("Systran/faster-distil-whisper-small.en"), "distil-small.en");
  EXPECT_EQ(name_of("silero-vad"), "silero");
  EXPECT_EQ(name_of("kokoro-v1.0.int8.onnx"), "kokoro");
  EXPECT_EQ(name_of("hexgrad/Kokoro-82M"), "kokoro");
  EXPECT_EQ(name_of("tiny"), "tiny");
  EXPECT_EQ(name_of("ggml-.bin"), "");
  EXPECT_EQ(name_of("ggml-"), "");
  EXPECT_EQ(name_of(""), "");
}

TEST(Url, is_split_and_put_together) {
  const auto url = parse_url("HTTPS://user:pw@Example.ORG:8443/a/b?c=d#e");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->host, "example.org");
  EXPECT_EQ(url->user, "user:pw");
  EXPECT_EQ(url->target, "/a/b?c=d");
  EXPECT_EQ(url->text(), "https://example.org:8443/a/b?c=d");
  EXPECT_EQ(parse_url("http://[::1]:80")->authority(), "[::1]");
  EXPECT_EQ(parse_url("http://[::1]:80")->target, "/");
  EXPECT_EQ(parse_url("http://h?q")->target, "/?q");
}

TEST(Url, refuses_what_is_no_address) {
  for (const char* text :
       {"", "example.org", "ftp://a/b", "http://", "http://:80/", "http://a:b/", "http://a:123456/",
        "http://[::1/", "http://a/ b", "http://a/\r\nX: y"}) {
    EXPECT_FALSE(parse_url(text).has_value()) << text;
  }
}

TEST(Url, locations_are_relative_to_where_they_were_found) {
  const Url base = *parse_url("https://a.org/x/y?z=https://c.org/");
  EXPECT_EQ(resolve_location(base, "http://b.org/q")->text(), "http://b.org/q");
  EXPECT_EQ(resolve_location(base, "//b.org/q")->text(), "https://b.org/q");
  EXPECT_EQ(resolve_location(base, "/q?u=http://d.org")->text(), "https://a.org/q?u=http://d.org");
  EXPECT_EQ(resolve_location(base, "q")->text(), "https://a.org/x/q");
}

TEST(Url, proxies_hold_but_for_the_named_hosts) {
  const Proxies proxies{.http = "http://p:1",
                        .https = "",
                        .all = "http://all:2",
                        .no_proxy = "localhost, .inside.org,10.0.0.1"};
  EXPECT_EQ(proxy_for(*parse_url("http://a.org"), proxies), "http://p:1");
  EXPECT_EQ(proxy_for(*parse_url("https://a.org"), proxies), "http://all:2");
  EXPECT_EQ(proxy_for(*parse_url("http://localhost:8000"), proxies), "");
  EXPECT_EQ(proxy_for(*parse_url("https://x.inside.org"), proxies), "");
  EXPECT_EQ(proxy_for(*parse_url("https://notinside.org"), proxies), "http://all:2");
  EXPECT_EQ(
      proxy_for(*parse_url("http://a.org"), {.http = "p", .https = "", .all = "", .no_proxy = "*"}),
      "");
}

TEST(Files, are_written_whole_and_counted) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_text_file(folder / "a", "12345"));
  ASSERT_TRUE(write_text_file(folder / "a", "123"));
  EXPECT_EQ(*read_text_file(folder / "a"), "123");
  EXPECT_EQ(bytes_on_disk(folder.path()), 3U);
  EXPECT_EQ(read_text_file(folder / "a", 2).error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(read_text_file(folder / "b").error().code, ErrorCode::NotFound);
  EXPECT_FALSE(write_text_file(folder / "no/such/folder", "x").has_value());
  EXPECT_FALSE(check_disk_space(folder / "x/y/z", uint64_t{1} << 62U).has_value());
  EXPECT_TRUE(check_disk_space(folder / "x/y/z", 1).has_value());
}

TEST(Files, bytes_read_as_people_write_them) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(999'960), "1.0 MB");
  EXPECT_EQ(human_bytes(75'537'502), "75.5 MB");
}

}  // namespace
}  // namespace mynah
