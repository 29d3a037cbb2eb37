#include "speech/packed_tables.h"

#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "text/english_files.h"

namespace mynah {
namespace {

using test::TemporaryFolder;

class PackedTables : public testing::Test {
 protected:
  // What the table of a file has for "word"; the file itself is what it has.
  std::string word_of(const TableSource& tables, const std::string& path) {
    const auto table = tables(path, [&]() -> Result<std::string> {
      ++packed_;
      StringTableBuilder builder;
      EXPECT_TRUE(builder.add("word", test::read_file(path)));
      return builder.finish();
    });
    EXPECT_TRUE(table.has_value());
    return std::string(table->find("word").value_or("nothing"));
  }

  TemporaryFolder folder_;
  std::string cache_ = folder_ / "cache";
  std::string path_ = folder_ / "lexicon.json";
  int packed_ = 0;
};

TEST_F(PackedTables, AreMadeOnceForAFileAndAnewForAnother) {
  test::write_file(path_, "first");
  EXPECT_EQ(word_of(packed_tables(cache_), path_), "first");
  EXPECT_EQ(word_of(packed_tables(cache_), path_), "first");
  EXPECT_EQ(packed_, 1);
  test::write_file(path_, "the second");
  EXPECT_EQ(word_of(packed_tables(cache_), path_), "the second");
  EXPECT_EQ(word_of(packed_tables(cache_), path_), "the second");
  EXPECT_EQ(packed_, 2);
}

TEST_F(PackedTables, AreMadeEachTimeWhereNothingCanBeKept) {
  test::write_file(path_, "text");
  test::write_file(cache_, "a file where the folder would be");
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(word_of(packed_tables(cache_), path_), "text");
    EXPECT_EQ(packed_, i);
  }
  EXPECT_FALSE(packed_tables("")) << "nobody asks for a cache";
}

TEST_F(PackedTables, ThatAreDamagedAreMadeAnew) {
  test::write_file(path_, "text");
  ASSERT_EQ(word_of(packed_tables(cache_), path_), "text");
  for (const auto& file : std::filesystem::recursive_directory_iterator(cache_ + "/packed")) {
    if (file.is_regular_file()) {
      std::string bytes = test::read_file(file.path().string());
      bytes.back() = static_cast<char>(~bytes.back());
      test::write_file(file.path().string(), bytes);
    }
  }
  EXPECT_EQ(word_of(packed_tables(cache_), path_), "text");
  EXPECT_EQ(packed_, 2);
}

TEST_F(PackedTables, AreReadAsTheirFilesAre) {
  constexpr std::string_view kText = "I read what the record will record, didn't I? Unheardofword.";
  const auto say = [&](TableSource tables) {
    const auto phonemizer = english_phonemizer(test::small_english(), /*british=*/false, nullptr,
                                               {.tables = std::move(tables)});
    EXPECT_TRUE(phonemizer.has_value());
    return joined(*(*phonemizer)->phonemes(kText));
  };
  const std::string wanted = say(nullptr);
  EXPECT_FALSE(wanted.empty());
  EXPECT_EQ(say(packed_tables(cache_)), wanted) << "packed";
  EXPECT_EQ(say(packed_tables(cache_)), wanted) << "mapped";
}

}  // namespace
}  // namespace mynah
