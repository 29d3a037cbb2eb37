#include "formats/zip.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string repeated_hello() {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += "hello ";
  }
  return text;
}

// Opens the archive and reads every member.
Status read_all(std::shared_ptr<const MappedFile> file) {
  MYNAH_TRY(const ZipArchive archive, ZipArchive::open(std::move(file)));
  for (const ZipMember& member : archive.members()) {
    MYNAH_TRY(const ZipBytes bytes, archive.read(member));
    EXPECT_EQ(bytes.bytes.size(), member.bytes);
  }
  return {};
}

TEST(ZipArchive, ReadsStoredAndDeflatedMembers) {
  for (const char* name : {"good-two", "good-zip64"}) {
    const auto archive = ZipArchive::open(map_corpus("zip", name));
    ASSERT_TRUE(archive) << archive.error().message;
    const ZipMember* stored = archive->find("a/stored.txt");
    const ZipMember* packed = archive->find("a/packed.txt");
    ASSERT_NE(stored, nullptr);
    ASSERT_NE(packed, nullptr);
    EXPECT_EQ(archive->find("a"), nullptr);
    const auto hello = archive->read(*stored);
    ASSERT_TRUE(hello) << hello.error().message;
    EXPECT_EQ(text_of(hello->bytes), "hello");
    EXPECT_EQ(hello->bytes.data(), stored->packed.data()) << "a stored member is a view";
    const auto hellos = archive->read(*packed);
    ASSERT_TRUE(hellos) << hellos.error().message;
    EXPECT_EQ(text_of(hellos->bytes), repeated_hello());
  }
}

TEST(ZipArchive, ExtractsAMemberToAFile) {
  const test::TemporaryFolder folder;
  const auto archive = ZipArchive::open(map_corpus("zip", "good-two"));
  ASSERT_TRUE(archive) << archive.error().message;
  const Status status = archive->extract(*archive->find("a/packed.txt"), folder / "out");
  ASSERT_TRUE(status) << status.error().message;
  const std::vector<char> written = file_contents(folder / "out");
  EXPECT_EQ(std::string(written.begin(), written.end()), repeated_hello());
}

TEST(ZipArchive, LeavesNoFileWhereTheMemberIsDamaged) {
  const test::TemporaryFolder folder;
  const auto archive = ZipArchive::open(map_corpus("zip", "bad-crc-packed"));
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_FALSE(archive->extract(archive->members().front(), folder / "out"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ZipArchive, RefusesDamagedAndHostileArchivesByName) {
  for (const auto& path : corpus_files("zip", "bad-")) {
    const Status status = read_all(map_file(path));
    ASSERT_FALSE(status) << path;
    EXPECT_TRUE(status.error().message.starts_with(path.string())) << status.error().message;
  }
}

TEST(ZipArchive, RefusesAnArchiveCutAtAnyByte) {
  for (const auto& path : corpus_files("zip", "good-")) {
    const std::vector<char> bytes = file_contents(path);
    const Status whole = read_all(map_file(path));
    ASSERT_TRUE(whole) << whole.error().message;
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto cut = std::as_bytes(std::span(bytes).first(size));
      EXPECT_FALSE(read_all(MappedFile::from_bytes(cut, "cut"))) << path << " cut to " << size;
    }
  }
}

}  // namespace
}  // namespace mynah
