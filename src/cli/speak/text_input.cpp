#include "cli/speak/text_input.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audio/input_file.h"
#include "base/ascii.h"
#include "base/mapped_file.h"
#include "cli/models/store_access.h"
#include "cli/placement/placement_answer.h"
#include "engine/store_folders.h"
#include "store/speech_models.h"
#include "store/store.h"
#include "text/documents/document.h"
#include "text/documents/encoding.h"
#include "text/phonemes/pronouncing_table.h"
#include "text/spoken/ssml.h"

namespace mynah::cli {

namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockBytes = 1 << 14;

// Texts that are no documents.
constexpr std::array<std::string_view, 2> kTextExtensions = {".ssml", ".jsonl"};
constexpr std::array<std::string_view, 1> kSsml = {".ssml"};
constexpr std::array<std::string_view, 2> kPlain = {".txt", ".text"};
constexpr std::array<std::string_view, 5> kOffice = {".docx", ".odt", ".rtf", ".doc", ".fb2"};

// A film has 100 KB of them.
constexpr size_t kMostSubtitleBytes = size_t{64} << 20;

// What may stand before <speak> at most: declarations and comments.
constexpr size_t kMostHead = 1 << 16;

// Whether a file's name ends so, in letters of either case.
bool has_extension(const std::string& path, std::span<const std::string_view> extensions) {
  const std::string extension = ascii_lower(fs::path(path).extension().string());
  return std::ranges::find(extensions, extension) != extensions.end();
}

bool holds_ssml(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kMostHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return looks_like_ssml(head);
}

// What comes in pieces is UTF-8, or at least text.
Status check_piece(std::string_view piece, const std::string& name, bool first) {
  const std::string what = name == "-" ? "standard input" : name;
  if (first && is_utf16(piece)) {
    return fail(ErrorCode::InvalidInput,
                what + ": wanted UTF-8, found UTF-16: iconv -f UTF-16 -t UTF-8 turns it into that");
  }
  Status status = check_is_text(piece);
  return status ? status : std::unexpected(std::move(status.error()).while_doing(what));
}

// What came in pieces.
Result<Subtitles> subtitles_of(std::string bytes, const std::string& name, NoteReading how) {
  Result<DecodedText> decoded = decode_text(std::move(bytes));
  Result<Subtitles> subtitles = decoded ? mynah::read_subtitles(decoded->text, how)
                                        : std::unexpected(std::move(decoded.error()));
  return subtitles ? std::move(subtitles)
                   : std::unexpected(
                         std::move(subtitles.error())
                             .while_doing(name.empty() || name == "-" ? "standard input" : name));
}

// The words of the dictionary that was pulled; none without it.
KnownWord dictionary_words(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return {};
  }
  auto file = MappedFile::open(path);
  auto table = file ? PronouncingTable::open(*file) : PronouncingTable();
  return table && table->size() > 0
             ? [table = std::move(*table)](
                   const std::string& word) { return table.find(word).has_value(); }
             : KnownWord();
}

Status check_size(const std::string& subtitles) {
  return subtitles.size() <= kMostSubtitleBytes
             ? Status{}
             : fail(ErrorCode::InvalidInput,
                    fmt::format("wanted subtitles of at most {} MB", kMostSubtitleBytes >> 20U));
}

// What the cues say.
Result<std::string> text_of_subtitles(std::string bytes, const std::string& name, NoteReading how,
                                      const Context& context) {
  MYNAH_TRY(const Subtitles subtitles, subtitles_of(std::move(bytes), name, how));
  say_each(context, subtitles.warnings);
  const Document document = document_of(subtitles);
  return document.chapters.empty() ? std::string() : document.chapters.front().text;
}

std::string office_document(const std::string& name) {
  return fmt::format(
      "{0}: mynah reads .txt, .md, .html, .epub, .pdf, .srt, .vtt and .ass: pandoc {0} -t markdown "
      "| "
      "mynah "
      "... --markup markdown - takes this one",
      name);
}

std::string no_document(const std::string& name, std::string_view verb) {
  return fmt::format(
      "there is no document {0} here; where its name is what you want to {1}: echo {0} | mynah "
      "... -",
      name, verb);
}

}  // namespace

void TextInput::fields(Fields& fields, const std::string& verb) {
  fields
      .positional("TEXT", words,
                  fmt::format("What to {}; - reads it from standard input as it comes.", verb))
      .as_optional()
      .completes(Complete::Files);
  fields
      .option("file", "FILE", file,
              fmt::format("What to {} stands in this file; - is standard input.", verb))
      .shorter('f')
      .completes(Complete::Files)
      .once();
  fields.choice(
      "notes", "WHERE", notes,
      {{"skip", NoteReading::Skip}, {"end", NoteReading::End}, {"inline", NoteReading::Inline}},
      fmt::format(
          "Footnotes and endnotes of a document: leave them out, {} them at the "
          "end of their chapter, or where they are marked. Of subtitles inline says sounds in "
          "brackets and the names of speakers, too.",
          verb));
}

Status TextInput::check(std::string_view verb, const Context& context) const {
  MYNAH_TRY_STATUS(check_names(verb));
  if (words.empty() != file.empty() || (words.empty() && !context.in.is_terminal())) {
    return {};
  }
  return fail(ErrorCode::Usage,
              words.empty() ? fmt::format("wanted something to {}: a text, --file FILE, or - for "
                                          "standard input",
                                          verb)
                            : "wanted a text or --file, found both");
}

// Words that are rather names of files than something to be read.
Status TextInput::check_names(std::string_view verb) const {
  std::error_code error;
  const auto is_file = [&error](const std::string& name) {
    return fs::is_regular_file(name, error);
  };
  const auto is_text = [](const std::string& name) {
    return has_document_extension(name) || has_extension(name, kTextExtensions);
  };
  if (words.size() > 1) {
    const bool names = std::ranges::all_of(words, [&](const std::string& word) {
      return (is_text(word) || has_extension(word, kOffice)) && !word.contains(' ');
    });
    const auto missing = std::ranges::find_if_not(words, is_file);
    if (names && missing != words.end()) {
      return fail(ErrorCode::NotFound, fmt::format("there is no document {} here", *missing));
    }
    return names ? fail(ErrorCode::Usage,
                        fmt::format("wanted one document, found {}: {}; {} them one after the "
                                    "other, or join them",
                                    words.size(), fmt::join(words, ", "), verb))
                 : Status{};
  }
  if (has_extension(file, kOffice) && is_file(file)) {
    return fail(ErrorCode::Usage, office_document(file));
  }
  if (words.empty() || words.front().contains(' ') || !path().empty()) {
    return {};
  }
  const std::string& name = words.front();
  if ((is_text(name) || has_extension(name, kOffice)) && fs::is_directory(name, error)) {
    return fail(ErrorCode::Usage, fmt::format("{} is a folder: wanted a text or a document", name));
  }
  if (is_text(name)) {
    return fail(ErrorCode::NotFound, no_document(name, verb));
  }
  if (has_extension(name, kOffice) && !fs::exists(name, error)) {
    return fail(ErrorCode::NotFound, no_document(name, verb));
  }
  if (has_extension(name, kOffice)) {
    return fail(ErrorCode::Usage, office_document(name));
  }
  // "e.g." is a text though a file may be called so; "notes.org" hardly is.
  if (fs::path(name).extension().string().size() > 1 && is_file(name)) {
    return fail(ErrorCode::Usage,
                fmt::format("{0} is a file: --file {0} for what stands in it; where its name is "
                            "what you want to {1}: echo {0} | mynah ... -",
                            name, verb));
  }
  return {};
}

std::string TextInput::path() const {
  if (!file.empty() || words.size() != 1) {
    return file;
  }
  const std::string& name = words.front();
  std::error_code error;
  const bool text = has_document_extension(name) || has_extension(name, kTextExtensions);
  return name == "-" || (text && fs::is_regular_file(name, error)) ? name : std::string();
}

std::string TextInput::document_path() const {
  const std::string name = path();
  const bool plain = has_extension(name, kPlain);
  return has_document_extension(name) && !(plain && holds_ssml(name)) ? name : std::string();
}

Result<std::optional<Document>> TextInput::read_document(const Context& context) const {
  const std::string name = document_path();
  if (name.empty()) {
    return std::nullopt;
  }
  MYNAH_TRY(Document document,
            mynah::read_document(name, notes,
                                 dictionary_words(installed_dictionary(
                                     Store(engine::store_folders(context.environment))))));
  for (const std::string& warning : document.warnings) {
    context.say_of(name, warning);
  }
  if (document.chapters.empty()) {
    return fail(ErrorCode::InvalidInput, name + ": has no text");
  }
  return document;
}

Status TextInput::read(const Context& context, TextKind kind,
                       const std::function<Status(TextKind)>& begin,
                       const std::function<Status(std::string_view)>& take) const {
  if (kind == TextKind::Plain && has_extension(path(), kSsml)) {
    kind = TextKind::Ssml;
  }
  bool begun = false;
  std::string held;  // until it shows what it is
  const auto look = [&](bool whole) -> Status {
    if (kind == TextKind::Plain) {
      const bool shows = whole || held.size() >= kMostHead;
      const SubtitleSign subtitles = look_for_subtitles(held, shows);
      if (subtitles == SubtitleSign::Yes && !whole) {
        return check_size(held);
      }
      if (subtitles == SubtitleSign::Yes) {
        MYNAH_TRY(held, text_of_subtitles(std::move(held), path(), notes, context));
      }
      const SsmlSign sign = look_for_ssml(held, shows);
      if (subtitles == SubtitleSign::NeedsMore || sign == SsmlSign::NeedsMore) {
        return {};
      }
      kind = sign == SsmlSign::Yes ? TextKind::Ssml : kind;
    }
    begun = true;
    MYNAH_TRY_STATUS(begin(kind));
    return take(std::exchange(held, {}));
  };
  MYNAH_TRY_STATUS(read(context, [&](std::string_view text) -> Status {
    if (begun) {
      return take(text);
    }
    held += text;
    return look(false);
  }));
  return begun || held.empty() ? Status{} : look(true);
}

bool TextInput::may_be_subtitles() const {
  return has_subtitle_extension(path()) || !has_document_extension(path()) ||
         has_extension(path(), kPlain);
}

Result<Subtitles> TextInput::read_subtitles(const Context& context) const {
  const std::string name = path();
  if (has_subtitle_extension(name)) {
    return read_subtitle_file(name, notes);
  }
  std::string bytes;
  MYNAH_TRY_STATUS(read(context, [&bytes](std::string_view piece) -> Status {
    bytes += piece;
    return check_size(bytes);
  }));
  if (look_for_subtitles(bytes, true) != SubtitleSign::Yes) {
    return fail(ErrorCode::Usage,
                "--keep-times wants subtitles (.srt, .vtt, .ass ...), found other text");
  }
  return subtitles_of(std::move(bytes), name, notes);
}

Status TextInput::read(const Context& context,
                       const std::function<Status(std::string_view)>& take) const {
  const std::string name = file.empty() && words.empty() ? "-" : path();
  if (name.empty()) {
    return take(fmt::format("{}", fmt::join(words, " ")));
  }
  MYNAH_TRY(InputFile input, open_input_file(name, context.stop, "a text"));
  std::array<std::byte, kBlockBytes> block{};
  bool first = true;
  for (;;) {
    MYNAH_TRY(const size_t got, read_some(input, block));
    if (got == 0) {
      return {};
    }
    const std::string_view piece(reinterpret_cast<const char*>(block.data()), got);
    MYNAH_TRY_STATUS(check_piece(piece, name, first));
    first = false;
    MYNAH_TRY_STATUS(take(piece));
  }
}

}  // namespace mynah::cli
