// Files that call themselves text, in the encodings that people have, and those that are none.
#include "text/documents/encoding.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "text/documents/document.h"

namespace mynah {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// The text and, behind a bar, what it was.
std::string decoded(std::string bytes) {
  const auto text = decode_text(std::move(bytes));
  return text ? text->text + "|" + text->from : "refused: " + text.error().message;
}

TEST(DecodeText, TakesUtf8AsItIs) {
  EXPECT_EQ(decoded("plain\r\n\tx"), "plain\r\n\tx|");
  EXPECT_EQ(decoded("\xEF\xBB\xBFna\u00EFve"), "na\u00EFve|");
  EXPECT_EQ(decoded("<meta charset=windows-1251>na\u00EFve"),
            "<meta charset=windows-1251>na\u00EFve|");
  // A damaged place among whole ones does not make another encoding of it.
  EXPECT_EQ(decoded("na\u00EFve \u00E9t\u00E9 \xFF."), "na\u00EFve \u00E9t\u00E9 \xFF.|");
  EXPECT_EQ(decoded(""), "|");
}

TEST(DecodeText, ReadsWhatWindowsAndOldBooksAreWrittenIn) {
  EXPECT_EQ(decoded("\xFF\xFEH\0\xE9\0"s), "H\u00E9|UTF-16LE");
  EXPECT_EQ(decoded("\xFE\xFF\0H\x04\x1F"s), "H\u041F|UTF-16BE");
  EXPECT_EQ(decoded("caf\xE9 \x93quoted\x94 \x80 5"),
            "caf\u00E9 \u201Cquoted\u201D \u20AC 5|windows-1252");
  EXPECT_EQ(decoded("<meta charset=\"ISO-8859-1\">\x93"
                    "a"),
            "<meta charset=\"ISO-8859-1\">\u201Ca|windows-1252");
  EXPECT_EQ(decoded("<meta charset=UTF-8>caf\xE9"), "<meta charset=UTF-8>caf\u00E9|windows-1252");
}

TEST(DecodeText, FollowsTheNameThatATextGives) {
  EXPECT_EQ(decoded("<META content='text/html; charset=KOI8-R'>\xF0\xD2"),
            "<META content='text/html; charset=KOI8-R'>\u041F\u0440|koi8-r");
  EXPECT_EQ(decoded("<?xml version=\"1.0\" encoding=\"Shift_JIS\"?>\x82\xA0"),
            "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?>\u3042|shift_jis");
  EXPECT_EQ(decoded("<meta charset=klingon>\xE9"), "<meta charset=klingon>\u00E9|windows-1252");
}

TEST(DecodeText, RefusesWhatIsNoText) {
  EXPECT_THAT(decoded("PK\x03\x04\0\0"s), HasSubstr("a NUL among them"));
  std::mt19937 random(1);
  std::string bytes;
  while (bytes.size() < 4000) {
    bytes += static_cast<char>(1 + random() % 255);
  }
  EXPECT_THAT(decoded(bytes), HasSubstr("control characters"));
  // A log has colours, and a page of DOS its end.
  EXPECT_EQ(decoded("\x1B[1mok\x1B[0m\f\x1A"), "\x1B[1mok\x1B[0m\f\x1A|");
  EXPECT_EQ(decoded("a\x01"
                    "b"),
            "a\x01"
            "b|");
}

TEST(DecodeText, OfADocumentIsTold) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "old.txt", "Un caf\xE9.\n");
  const auto old = read_document(folder / "old.txt");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->chapters.at(0).text, "Un caf\u00E9.");
  EXPECT_THAT(old->warnings, ElementsAre("its text is not UTF-8: read as windows-1252"));
  test::write_file(folder / "song.txt", "ID3\x04\0\0\0"s);
  const auto song = read_document(folder / "song.txt");
  ASSERT_FALSE(song);
  EXPECT_THAT(song.error().message,
              HasSubstr("song.txt: wanted a text, found bytes that are none"));
}

}  // namespace
}  // namespace mynah
