// A book whose process ends at any moment is spoken to the end, nothing twice.
#include "speech/book_parts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/open.h"
#include "fake_voice.h"
#include "temporary_folder.h"
#include "text/phonemes/written_words.h"

namespace mynah {
namespace {

using test::FakeVoice;
using testing::HasSubstr;

// Ends as if the process had been killed after so many clauses.
class PartsObserver final : public SpeechObserver {
 public:
  PartsObserver(BookParts& parts, size_t offset, size_t most)
      : parts_(parts), offset_(offset), most_(most) {}

  Status on_clause(const SpokenClause& clause) override {
    if (count_ == most_) {
      return fail(ErrorCode::Cancelled, "killed");
    }
    ++count_;
    return parts_.add(clause, offset_);
  }

  [[nodiscard]] size_t count() const { return count_; }

 private:
  BookParts& parts_;
  size_t offset_;
  size_t most_;
  size_t count_ = 0;
};

class Book : public testing::Test {
 protected:
  Book() {
    for (int chapter = 0; chapter < 3; ++chapter) {
      std::string text;
      for (int i = 0; i < 8; ++i) {
        text += "Sentence " + std::to_string(i) + " of " + std::to_string(chapter) +
                ", which is long enough that it has to be cut into two." +
                (i % 3 == 2 ? "\n\n" : " ");
      }
      chapters_.push_back(text);
    }
  }

  // Speaks until the end or until `most` clauses were; true: to the end.
  bool speak(const std::string& folder, size_t most, const std::string& key = "key") {
    auto parts = BookParts::open(folder, key, FakeVoice::kRate);
    EXPECT_TRUE(parts) << parts.error().message;
    while (parts->place().chapter < chapters_.size()) {
      const BookPlace place = parts->place();
      SpeakOptions options;
      options.lead_silence_s = !place.begun      ? 0
                               : place.paragraph ? options.paragraph_silence_s
                                                 : options.sentence_silence_s;
      PartsObserver observer(*parts, place.text_bytes, most);
      const Status spoken =
          synthesizer_.speak(std::string_view(chapters_[place.chapter]).substr(place.text_bytes),
                             options, observer, {});
      most -= observer.count();
      if (!spoken) {
        return false;
      }
      EXPECT_TRUE(parts->finish_chapter());
    }
    return true;
  }

  // All samples of the chapters.
  static std::vector<float> samples_of(const std::string& folder) {
    const auto parts = BookParts::open(folder, "key", FakeVoice::kRate);
    std::vector<float> all;
    for (const BookChapter& chapter : parts->chapters()) {
      AudioOpenOptions options;
      options.rate_hz = FakeVoice::kRate;
      auto source = open_audio(chapter.path, options);
      EXPECT_TRUE(source);
      std::vector<float> block(4096);
      uint64_t count = 0;
      for (size_t got = 1; got > 0; count += got) {
        got = (*source)->read(block).value_or(0);
        all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(got));
      }
      EXPECT_EQ(count, chapter.samples);
    }
    return all;
  }

  std::vector<std::string> said_;
  Synthesizer synthesizer_{std::make_unique<const FakeVoice>(said_),
                           [](const std::string&) -> Result<std::shared_ptr<const Phonemizer>> {
                             return std::make_shared<const WrittenWords>();
                           }};
  std::vector<std::string> chapters_;
  test::TemporaryFolder folder_;
};

TEST_F(Book, KilledAnywhereItGoesOnWhereItWas) {
  ASSERT_TRUE(speak(folder_ / "whole", 1000));
  const auto whole = samples_of(folder_ / "whole");
  ASSERT_GT(whole.size(), 100000U);
  for (size_t most = 4; most < 20; most += 3) {
    const std::string folder = folder_ / ("cut" + std::to_string(most));
    int runs = 1;
    // A run that ends before a whole sentence would never come to the end.
    while (!speak(folder, most)) {
      ASSERT_LT(runs, 100);
      ++runs;
    }
    EXPECT_GT(runs, 1);
    EXPECT_EQ(samples_of(folder) == whole, true) << most;
  }
}

TEST_F(Book, ClausesHaveTheirPlacesInTextAndSound) {
  const std::string folder = folder_ / "book";
  (void)speak(folder, 7);
  ASSERT_TRUE(speak(folder, 1000));
  const auto parts = BookParts::open(folder, "key", FakeVoice::kRate);
  ASSERT_EQ(parts->chapters().size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    const BookChapter& chapter = parts->chapters()[i];
    std::string all;
    uint64_t before = 0;
    for (const BookClause& clause : chapter.clauses) {
      EXPECT_GE(clause.start, before);
      EXPECT_GT(clause.stop, clause.start);
      before = clause.stop;
      all += chapters_[i].substr(clause.begin, clause.end - clause.begin) + " ";
    }
    EXPECT_EQ(before, chapter.samples);
    std::string words = chapters_[i];
    std::erase_if(all, [](char c) { return c == ' ' || c == '\n'; });
    std::erase_if(words, [](char c) { return c == ' ' || c == '\n'; });
    EXPECT_EQ(all, words);
  }
}

TEST_F(Book, AJournalThatIsCutAtAnyByteIsTakenUp) {
  const std::string folder = folder_ / "book";
  ASSERT_TRUE(speak(folder, 1000));
  const auto whole = samples_of(folder);
  std::filesystem::remove_all(folder);
  (void)speak(folder, 21);
  std::ifstream file(folder + "/journal", std::ios::binary);
  const std::string journal{std::istreambuf_iterator<char>(file), {}};
  std::mt19937 random(3);
  for (int turn = 0; turn < 12; ++turn) {
    const std::string copy = folder_ / ("copy" + std::to_string(turn));
    std::filesystem::copy(folder, copy);
    std::filesystem::resize_file(copy + "/journal", random() % journal.size());
    ASSERT_TRUE(speak(copy, 1000));
    EXPECT_EQ(samples_of(copy) == whole, true) << turn;
  }
}

TEST_F(Book, SamplesOrAChapterThatAreGoneAreSpokenAgain) {
  const std::string folder = folder_ / "book";
  ASSERT_TRUE(speak(folder, 1000));
  const auto whole = samples_of(folder);
  for (const char* name : {"samples.pcm", "chapter-0001.flac"}) {
    std::filesystem::remove_all(folder);
    (void)speak(folder, 30);
    ASSERT_TRUE(std::filesystem::remove(folder + "/" + name));
    ASSERT_TRUE(speak(folder, 1000));
    EXPECT_EQ(samples_of(folder) == whole, true) << name;
  }
}

TEST_F(Book, AnotherKeyBeginsAnew) {
  const std::string folder = folder_ / "book";
  (void)speak(folder, 5);
  said_.clear();
  ASSERT_TRUE(speak(folder, 1000, "other voice"));
  EXPECT_TRUE(said_.front().starts_with("Sentence zero of zero"));
}

TEST_F(Book, IsSpokenByOneProcessAtATime) {
  const auto first = BookParts::open(folder_ / "book", "key", 8000);
  ASSERT_TRUE(first);
  const auto second = BookParts::open(folder_ / "book", "key", 8000);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Busy);
}

TEST_F(Book, GarbageInItsFolderIsNoHarm) {
  const std::string folder = folder_ / "book";
  std::mt19937 random(5);
  for (int turn = 0; turn < 20; ++turn) {
    std::filesystem::create_directories(folder);
    std::ofstream file(folder + "/journal", std::ios::binary);
    file << "mynah-book 1 8000 key\n";
    for (int line = 0; line < 5; ++line) {
      file << (random() % 2 == 0 ? "clause " : "chapter ") << random() % 9 << ' ' << random() << ' '
           << random() % 99 << " -1 18446744073709551615 2\n";
    }
    file.close();
    auto parts = BookParts::open(folder, "key", FakeVoice::kRate);
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->place().chapter, 0U);
  }
}

}  // namespace
}  // namespace mynah
