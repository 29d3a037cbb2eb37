#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/mapped_file.h"
#include "text/documents/document.h"
#include "text/documents/encoding.h"
#include "text/documents/epub.h"
#include "text/documents/html.h"
#include "text/documents/pdf.h"
#include "text/documents/subtitles.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

// A text of ten million words; more is no book but a mistake.
constexpr uintmax_t kMostDocumentBytes = 64U << 20U;

constexpr std::array<std::string_view, 9> kExtensions = {
    ".txt", ".text", ".md", ".markdown", ".html", ".htm", ".xhtml", ".epub", ".pdf"};
constexpr std::array<std::string_view, 7> kSubtitles = {".srt", ".vtt",  ".ass", ".ssa",
                                                        ".sbv", ".ttml", ".dfxp"};

std::string extension_of(const std::string& path) {
  return ascii_lower(fs::path(path).extension().string());
}

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return fail(ErrorCode::InvalidInput, path + ": wanted a text, found a folder");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                path + ": " + std::strerror(errno));
  }
  if (const uintmax_t size = fs::file_size(path, error); !error && size > kMostDocumentBytes) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: wanted a text of at most {} MB, found {}",
                                                     path, kMostDocumentBytes >> 20U, size >> 20U));
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

bool has_document_extension(const std::string& path) {
  return std::ranges::find(kExtensions, extension_of(path)) != kExtensions.end() ||
         has_subtitle_extension(path);
}

bool has_subtitle_extension(const std::string& path) {
  return std::ranges::find(kSubtitles, extension_of(path)) != kSubtitles.end();
}

Result<Subtitles> read_subtitle_file(const std::string& path, NoteReading how) {
  MYNAH_TRY(std::string bytes, read_file(path));
  Result<DecodedText> decoded = decode_text(std::move(bytes));
  Result<Subtitles> subtitles =
      decoded ? read_subtitles(decoded->text, how) : std::unexpected(std::move(decoded.error()));
  return subtitles ? std::move(subtitles)
                   : std::unexpected(std::move(subtitles.error()).while_doing(path));
}

Result<Document> read_document(const std::string& path, NoteReading how, const KnownWord& is_word) {
  const std::string extension = extension_of(path);
  Document document;
  if (extension == ".epub") {
    MYNAH_TRY(auto file, MappedFile::open(path));
    MYNAH_TRY(document, read_epub(std::move(file), how));
  } else if (extension == ".pdf") {
    MYNAH_TRY(document, read_pdf(path, how, is_word));
  } else {
    MYNAH_TRY(std::string bytes, read_file(path));
    Result<DecodedText> decoded = decode_text(std::move(bytes));
    if (!decoded) {
      return std::unexpected(std::move(decoded.error()).while_doing(path));
    }
    const std::string& text = decoded->text;
    const bool subtitles =
        has_subtitle_extension(path) || ((extension == ".txt" || extension == ".text") &&
                                         look_for_subtitles(text, true) == SubtitleSign::Yes);
    if (subtitles) {
      const Result<Subtitles> cues = read_subtitles(text, how);
      if (!cues) {
        return std::unexpected(Error(cues.error()).while_doing(path));
      }
      document = document_of(*cues);
    } else {
      document = extension == ".html" || extension == ".htm" || extension == ".xhtml"
                     ? read_html(text, how)
                 : extension.starts_with(".m") ? read_markdown(text, how)
                                               : read_plain_text(text, how);
    }
    if (!decoded->from.empty() && !decoded->from.starts_with("UTF-16")) {
      document.warnings.push_back(fmt::format("its text is not UTF-8: read as {}", decoded->from));
    }
  }
  if (document.title.empty()) {
    document.title = fs::path(path).stem().string();
  }
  return document;
}

}  // namespace mynah
