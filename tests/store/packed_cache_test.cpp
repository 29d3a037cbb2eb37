#include "store/packed_cache.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "store/sha256.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

using test::read_file;
using test::TemporaryFolder;
using test::write_file;

PackedCacheKey key_of(const std::string& layout = "avx2-1", char model = 'a') {
  return {.model_digest = std::string(64, model), .storage = "f16", .layout = layout};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const Blob& blob) {
  return {reinterpret_cast<const char*>(blob.bytes.data()), blob.bytes.size()};
}

std::unique_ptr<PackedCache> open_cache(const TemporaryFolder& folder, const PackedCacheKey& key) {
  auto cache = PackedCache::open(folder.path(), key);
  EXPECT_TRUE(cache.has_value());
  return std::move(*cache);
}

// Commits two blobs and returns the path of the file.
std::string write_example(const TemporaryFolder& folder) {
  auto cache = open_cache(folder, key_of());
  EXPECT_TRUE(cache->add("encoder", bytes_of("weights of the encoder")));
  EXPECT_TRUE(cache->add("silence", bytes_of(std::string(1000, 's'))));
  EXPECT_TRUE(cache->commit());
  return cache->path();
}

TEST(PackedCache, finds_in_a_later_run_what_was_committed) {
  const TemporaryFolder folder;
  write_example(folder);
  const auto cache = open_cache(folder, key_of());
  ASSERT_EQ(cache->blobs(), 2U);
  const auto blob = cache->find("encoder");
  ASSERT_TRUE(blob.has_value());
  EXPECT_EQ(text_of(*blob), "weights of the encoder");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(cache->find("silence")->bytes.data()) % 64, 0U);
  EXPECT_FALSE(cache->find("decoder").has_value());
}

TEST(PackedCache, is_written_though_another_took_its_empty_folder_along) {
  const TemporaryFolder folder;
  const auto waits = open_cache(folder, key_of("avx2-1", 'b'));
  write_example(folder);
  EXPECT_TRUE(waits->add("encoder", bytes_of("weights of another")));
  EXPECT_TRUE(waits->commit());
  EXPECT_EQ(text_of(*waits->find("encoder")), "weights of another");
}

TEST(PackedCache, shows_nothing_before_commit_and_leaves_no_file_without_it) {
  const TemporaryFolder folder;
  {
    auto cache = open_cache(folder, key_of());
    ASSERT_TRUE(cache->add("encoder", bytes_of("abc")));
    EXPECT_FALSE(cache->find("encoder").has_value());
  }
  for (const auto& item : std::filesystem::recursive_directory_iterator(folder.path())) {
    EXPECT_FALSE(item.is_regular_file()) << item.path();
  }
}

TEST(PackedCache, keeps_earlier_blobs_when_more_are_committed) {
  const TemporaryFolder folder;
  write_example(folder);
  auto cache = open_cache(folder, key_of());
  const auto early = cache->find("encoder");
  ASSERT_TRUE(cache->add("decoder", bytes_of("more")));
  ASSERT_TRUE(cache->commit());
  EXPECT_EQ(cache->blobs(), 3U);
  EXPECT_EQ(text_of(*cache->find("encoder")), "weights of the encoder");
  EXPECT_EQ(text_of(*early), "weights of the encoder");  // its owner keeps the old mapping
}

TEST(PackedCache, keeps_what_a_name_has_when_it_is_added_again) {
  const TemporaryFolder folder;
  write_example(folder);
  auto cache = open_cache(folder, key_of());
  ASSERT_TRUE(cache->add("encoder", bytes_of("other")));
  ASSERT_TRUE(cache->add("decoder", bytes_of("first")));
  ASSERT_TRUE(cache->add("decoder", bytes_of("second")));
  ASSERT_TRUE(cache->commit());
  EXPECT_EQ(text_of(*cache->find("encoder")), "weights of the encoder");
  EXPECT_EQ(text_of(*cache->find("decoder")), "first");
}

TEST(PackedCache, removes_what_nobody_opened_for_a_month_when_it_writes) {
  const TemporaryFolder folder;
  const auto age = [](const std::string& path, int days) {
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::days(days));
  };
  const std::string old = write_example(folder);
  const std::string left = old + ".1-2.tmp";
  write_file(left, "a writer that was killed");
  age(left, 31);
  const auto write_other = [&](char model) {
    auto cache = open_cache(folder, key_of("avx2-1", model));
    ASSERT_TRUE(cache->add("encoder", bytes_of("other")));
    ASSERT_TRUE(cache->commit());
  };
  age(old, 29);
  write_other('b');
  EXPECT_TRUE(std::filesystem::exists(old));
  EXPECT_FALSE(std::filesystem::exists(left));
  age(old, 31);
  EXPECT_EQ(open_cache(folder, key_of())->blobs(), 2U);  // which counts as use
  write_other('c');
  EXPECT_TRUE(std::filesystem::exists(old));
  age(old, 31);
  write_other('d');
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(old).parent_path()));
}

TEST(PackedCache, keeps_models_storage_types_and_layouts_apart) {
  const TemporaryFolder folder;
  write_example(folder);
  EXPECT_EQ(open_cache(folder, key_of("avx2-2"))->blobs(), 0U);
  EXPECT_EQ(open_cache(folder, key_of("avx2-1", 'b'))->blobs(), 0U);
  auto other = key_of();
  other.storage = "i8";
  EXPECT_EQ(open_cache(folder, other)->blobs(), 0U);
}

TEST(PackedCache, treats_a_file_of_another_key_as_stale_and_replaces_it) {
  const TemporaryFolder folder;
  const std::string old_file = read_file(write_example(folder));
  auto cache = open_cache(folder, key_of("avx2-2"));
  write_file(cache->path(), old_file);
  cache = open_cache(folder, key_of("avx2-2"));
  EXPECT_EQ(cache->blobs(), 0U);
  ASSERT_TRUE(cache->add("encoder", bytes_of("new")));
  ASSERT_TRUE(cache->commit());
  EXPECT_EQ(text_of(*cache->find("encoder")), "new");
}

TEST(PackedCache, is_empty_when_its_file_is_cut_at_any_byte) {
  const TemporaryFolder folder;
  const std::string path = write_example(folder);
  const std::string whole = read_file(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    write_file(path, whole.substr(0, size));
    ASSERT_EQ(open_cache(folder, key_of())->blobs(), 0U) << "cut at " << size;
  }
}

TEST(PackedCache, never_believes_a_damaged_header_or_table) {
  const TemporaryFolder folder;
  const std::string path = write_example(folder);
  const std::string whole = read_file(path);
  // Everything but the blobs, whose bytes find() checks: header, and the table at the end.
  constexpr size_t kHeaderBytes = 160;
  const size_t table = whole.size() - (4 + 7 + 16 + 8) * 2;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (i >= kHeaderBytes && i < table) {
      continue;
    }
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    write_file(path, damaged);
    ASSERT_EQ(open_cache(folder, key_of())->blobs(), 0U) << "byte " << i;
  }
}

// With the size unchanged.
void damage(const std::string& path, std::string_view blob) {
  std::string text = read_file(path);
  text[text.find(blob)] = 'X';
  write_file(path, text);
}

TEST(PackedCache, gives_no_blob_whose_bytes_changed_and_keeps_what_takes_its_place) {
  const TemporaryFolder folder;
  const std::string path = write_example(folder);
  damage(path, "weights of");
  std::vector<std::string> told;
  auto cache = *PackedCache::open(folder.path(), key_of(),
                                  [&](const std::string& line) { told.push_back(line); });
  EXPECT_FALSE(cache->find("encoder"));
  EXPECT_FALSE(cache->find("encoder"));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told.front().find(path + " is damaged ('encoder' is not"), std::string::npos);
  EXPECT_EQ(text_of(*cache->find("silence")), std::string(1000, 's'));
  ASSERT_TRUE(cache->add("encoder", bytes_of("weights of the encoder")));
  ASSERT_TRUE(cache->commit());
  cache = open_cache(folder, key_of());
  EXPECT_EQ(text_of(*cache->find("encoder")), "weights of the encoder");
  EXPECT_EQ(text_of(*cache->find("silence")), std::string(1000, 's'));
}

// As long as its time and size are what they were.
TEST(PackedCache, reads_what_was_found_whole_no_more_until_it_changes) {
  const TemporaryFolder folder;
  const std::string path = write_example(folder);
  const auto hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(path, hour_ago);
  auto cache = open_cache(folder, key_of());
  EXPECT_TRUE(cache->find("encoder"));
  ASSERT_TRUE(cache->commit());
  damage(path, "weights of");
  std::filesystem::last_write_time(path, hour_ago);
  EXPECT_FALSE(open_cache(folder, key_of())->find("encoder")) << "one of two is not all";
  cache = open_cache(folder, key_of());
  EXPECT_TRUE(cache->find("silence"));
  EXPECT_FALSE(cache->find("encoder"));
  ASSERT_TRUE(cache->commit());
  EXPECT_FALSE(open_cache(folder, key_of())->find("encoder")) << "nothing is noted of damage";

  write_example(folder);
  std::filesystem::last_write_time(path, hour_ago);
  cache = open_cache(folder, key_of());
  EXPECT_TRUE(cache->find("encoder"));
  EXPECT_TRUE(cache->find("silence"));
  ASSERT_TRUE(cache->commit());
  damage(path, "weights of");
  EXPECT_FALSE(open_cache(folder, key_of())->find("encoder")) << "its time is another one";
  std::filesystem::last_write_time(path, hour_ago);
  EXPECT_TRUE(open_cache(folder, key_of())->find("encoder")) << "it looks as it was noted";
}

// Nobody asked for it since, and written again it would look whole.
TEST(PackedCache, does_not_take_damage_along_when_more_is_committed) {
  const TemporaryFolder folder;
  damage(write_example(folder), "ssss");
  auto cache = open_cache(folder, key_of());
  ASSERT_TRUE(cache->add("decoder", bytes_of("more")));
  ASSERT_TRUE(cache->commit());
  EXPECT_EQ(cache->blobs(), 2U);
  EXPECT_FALSE(cache->find("silence"));
  EXPECT_EQ(text_of(*cache->find("encoder")), "weights of the encoder");
}

TEST(PackedCache, survives_many_writers_at_once) {
  const TemporaryFolder folder;
  const std::string weights(200'000, 'w');
  {
    std::vector<std::jthread> writers(8);
    for (std::jthread& writer : writers) {
      writer = std::jthread([&] {
        auto cache = open_cache(folder, key_of());
        if (!cache->find("encoder")) {
          EXPECT_TRUE(cache->add("encoder", bytes_of(weights)));
          EXPECT_TRUE(cache->commit());
        }
        EXPECT_EQ(text_of(*cache->find("encoder")), weights);
      });
    }
  }
  EXPECT_EQ(text_of(*open_cache(folder, key_of())->find("encoder")), weights);
}

TEST(PackedCache, says_why_a_folder_cannot_be_written) {
  const TemporaryFolder folder;
  write_file(folder / "packed", "a file where the folder should be");
  const auto cache = PackedCache::open(folder.path(), key_of());
  ASSERT_FALSE(cache.has_value());
  EXPECT_EQ(cache.error().code, ErrorCode::Io);
}

TEST(PackedCache, is_removed_with_its_model) {
  const TemporaryFolder folder;
  const std::string path = write_example(folder);
  const auto bytes = std::filesystem::file_size(path);
  EXPECT_EQ(remove_packed_files(folder.path(), key_of().model_digest), bytes);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ModelDigest, is_the_files_sha256_and_is_remembered_until_the_file_changes) {
  const TemporaryFolder folder;
  const std::string model = folder / "model.gguf";
  write_file(model, "abc");
  // FIPS 180-2, appendix B.1.
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const std::string cache = folder / "cache";
  EXPECT_EQ(*model_digest(model, cache), abc);
  EXPECT_EQ(*model_digest(model, cache), abc);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cache + "/digests"), {}), 1);
  write_file(model, "abcd");
  EXPECT_NE(*model_digest(model, cache), abc);
  EXPECT_EQ(model_digest(folder / "none", cache).error().code, ErrorCode::NotFound);
}

TEST(ModelDigest, of_a_folder_depends_on_every_file_in_it) {
  const TemporaryFolder folder;
  write_file(folder / "m/model.bin", "weights");
  write_file(folder / "m/config.json", "{}");
  const std::string first = *model_digest(folder / "m", "");
  EXPECT_EQ(*model_digest(folder / "m", ""), first);
  write_file(folder / "m/config.json", "{ }");
  EXPECT_NE(*model_digest(folder / "m", ""), first);
}

}  // namespace
}  // namespace mynah
