#include "cli/speak/speak_book.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audio/book_writer.h"
#include "audio/media_writer.h"
#include "audio/open.h"
#include "audio/sound_writer.h"
#include "base/file_name.h"
#include "cli/files/progress.h"
#include "speech/book_parts.h"
#include "store/sha256.h"
#include "tensor/device_failure.h"

namespace mynah::cli {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kBlockSamples = 1 << 15;

// Everything that shapes the samples: another voice or another text is another book.
std::string key_of(const Document& document, const BookOptions& options) {
  Digest digest;
  const auto add = [&digest](std::string_view text) {
    digest.update(fmt::format("{} ", text.size()));
    digest.update(text);
  };
  for (const Chapter& chapter : document.chapters) {
    add(chapter.text);
  }
  const SpeakOptions& speak = options.speak;
  add(options.voice);
  add(fmt::format("{} {} {} {} {} {} {}", speak.language, speak.voice.speed, speak.volume,
                  static_cast<int>(speak.kind), speak.clause_silence_s, speak.sentence_silence_s,
                  speak.paragraph_silence_s));
  // Not where they are as usual, so that books in work go on behind an update.
  if (!speak.normalize || speak.emoji != EmojiReading::Names) {
    add(fmt::format("{} {}", speak.normalize, static_cast<int>(speak.emoji)));
  }
  if (speak.loudness_lufs) {
    add(fmt::format("{} LUFS", *speak.loudness_lufs));
  }
  return digest.hex();
}

// Keeps what is spoken, and tells how far it is.
class BookObserver final : public SpeechObserver {
 public:
  // Keeps what is told of the text, once, in `warnings`.
  BookObserver(BookParts& parts, size_t text_offset, std::function<void(const SpokenClause&)> told,
               std::vector<std::string>& warnings, Context& context)
      : parts_(parts),
        text_offset_(text_offset),
        told_(std::move(told)),
        warnings_(warnings),
        context_(context) {}

  Status on_clause(const SpokenClause& clause) override {
    MYNAH_TRY_STATUS(parts_.add(clause, text_offset_));
    told_(clause);
    return {};
  }

  void on_warning(const std::string& text) override {
    if (std::ranges::find(warnings_, text) == warnings_.end()) {
      context_.say(text);
      warnings_.push_back(text);
    }
  }

 private:
  BookParts& parts_;
  size_t text_offset_;
  std::function<void(const SpokenClause&)> told_;
  std::vector<std::string>& warnings_;
  Context& context_;
};

// How much of a text is done, as seconds of its sound: what is to come is guessed from what was.
class BookProgress {
 public:
  BookProgress(const Document& document, const BookOptions& options, Context& context)
      : progress_(
            context.err,
            options.progress && context.err.is_terminal() ? ProgressStyle::Bar : ProgressStyle::Off,
            1),
        name_(options.name) {
    for (const Chapter& chapter : document.chapters) {
      bytes_ += chapter.text.size();
    }
  }

  void begin(size_t bytes, double seconds) {
    done_bytes_ = bytes;
    done_s_ = seconds;
  }

  void update(size_t bytes, double seconds) {
    done_bytes_ += bytes;
    done_s_ += seconds;
    const double all_s =
        done_bytes_ == 0 ? 0
                         : done_s_ * static_cast<double>(bytes_) / static_cast<double>(done_bytes_);
    progress_.update(0, name_, done_s_, all_s);
  }

  void finish() { progress_.finish(0); }

  void clear() { progress_.clear(); }

 private:
  Progress progress_;
  std::string name_;
  size_t bytes_ = 0;
  size_t done_bytes_ = 0;
  double done_s_ = 0;
};

uint64_t silence_of(int rate_hz) {
  return static_cast<uint64_t>(std::lround(kChapterSilence_s * rate_hz));
}

// Where each chapter begins in the whole, in samples, and behind the last one its end. Silence
// stands between two that are heard.
std::vector<uint64_t> begins_of(const BookParts& parts, int rate_hz) {
  std::vector<uint64_t> begins;
  uint64_t at = 0;
  for (const BookChapter& chapter : parts.chapters()) {
    at += at > 0 && chapter.samples > 0 ? silence_of(rate_hz) : 0;
    begins.push_back(at);
    at += chapter.samples;
  }
  begins.push_back(at);
  return begins;
}

// Where the chapter begins that is in work.
uint64_t begin_of_next(const BookParts& parts, int rate_hz) {
  const uint64_t end = begins_of(parts, rate_hz).back();
  return end + (end > 0 ? silence_of(rate_hz) : 0);
}

Status speak_chapters(const Document& document, const BookOptions& options,
                      const Synthesizer& synthesizer, BookParts& parts, BookProgress& progress,
                      std::vector<std::string>& warnings, Context& context) {
  const double rate = synthesizer.model().rate_hz();
  while (parts.place().chapter < document.chapters.size()) {
    const BookPlace place = parts.place();
    const std::string& text = document.chapters[place.chapter].text;
    SpeakOptions speak = options.speak;
    speak.first_phonemes = 0;
    speak.lead_silence_s = !place.begun      ? 0
                           : place.paragraph ? speak.paragraph_silence_s
                                             : speak.sentence_silence_s;
    const double before_s =
        static_cast<double>(begin_of_next(parts, synthesizer.model().rate_hz()) +
                            parts.samples_in_work()) /
        rate;
    size_t spoken_to = 0;
    BookObserver observer(
        parts, place.text_bytes,
        [&](const SpokenClause& clause) {
          progress.update(clause.end - std::min(clause.end, spoken_to),
                          static_cast<double>(clause.samples.size()) / rate);
          spoken_to = clause.end;
          if (context.json) {
            nlohmann::ordered_json line = to_json(clause, before_s, place.text_bytes);
            line["chapter"] = place.chapter + 1;
            context.out.line(
                line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
            context.out.flush();
          }
        },
        warnings, context);
    MYNAH_TRY_STATUS(synthesizer.speak(std::string_view(text).substr(place.text_bytes), speak,
                                       observer, context.stop));
    MYNAH_TRY_STATUS(parts.finish_chapter());
  }
  return {};
}

// Gives a chapter's samples, in pieces.
Status read_chapter(const BookChapter& chapter, int rate_hz,
                    const std::function<Status(std::span<const float>)>& take) {
  if (chapter.samples == 0) {
    return {};
  }
  AudioOpenOptions options;
  options.rate_hz = rate_hz;
  MYNAH_TRY(const auto source, open_audio(chapter.path, options));
  std::vector<float> block(kBlockSamples);
  for (;;) {
    MYNAH_TRY(const size_t got, source->read(block));
    if (got == 0) {
      return {};
    }
    MYNAH_TRY_STATUS(take(std::span(block).first(got)));
  }
}

// All chapters in one go: one encoder runs for the whole.
Status write_whole(const BookParts& parts, int rate_hz,
                   const std::function<Status(std::span<const float>)>& take) {
  const std::vector<float> silence(silence_of(rate_hz));
  bool heard = false;
  for (const BookChapter& chapter : parts.chapters()) {
    if (heard && chapter.samples > 0) {
      MYNAH_TRY_STATUS(take(silence));
    }
    heard = heard || chapter.samples > 0;
    MYNAH_TRY_STATUS(read_chapter(chapter, rate_hz, take));
  }
  return {};
}

Status write_m4b(const Document& document, const BookOptions& options, const BookParts& parts,
                 int rate_hz) {
  const std::vector<uint64_t> begins = begins_of(parts, rate_hz);
  const auto ms = [rate_hz](uint64_t samples) {
    return samples * 1000 / static_cast<uint64_t>(rate_hz);
  };
  BookTags tags{.title = document.title, .author = document.author, .chapters = {}};
  for (size_t i = 0; i < parts.chapters().size(); ++i) {
    const std::string& title = document.chapters[i].title;
    tags.chapters.push_back({.title = title.empty() ? fmt::format("Part {}", i + 1) : title,
                             .begin_ms = ms(begins[i]),
                             .end_ms = ms(begins[i + 1])});
  }
  MYNAH_TRY(BookWriter writer, BookWriter::create(options.out, rate_hz, tags));
  MYNAH_TRY_STATUS(write_whole(
      parts, rate_hz, [&writer](std::span<const float> samples) { return writer.write(samples); }));
  return writer.finish();
}

Status write_sound(const std::string& path, const BookOptions& options, int rate_hz,
                   const std::function<Status(SoundWriter&)>& fill) {
  MYNAH_TRY(AtomicFile file, AtomicFile::create(path));
  FileSink sink(std::move(file));
  MYNAH_TRY(const auto writer, make_sound_writer(sink, {.format = options.format,
                                                        .rate_hz = rate_hz,
                                                        .file_rate_hz = options.rate_hz,
                                                        .media_program = {}}));
  MYNAH_TRY_STATUS(fill(*writer));
  MYNAH_TRY_STATUS(writer->finish());
  return sink.commit();
}

// "03 The Storm": safe as a file's name everywhere.
std::string file_name(size_t chapter, const std::string& title) {
  std::string name = fmt::format("{:02}", chapter + 1);
  constexpr size_t kMostBytes = 80;
  std::string rest;
  for (const char c : cut_between_letters(title, kMostBytes)) {
    const bool unsafe = static_cast<unsigned char>(c) < 0x20 ||
                        std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos;
    rest += unsafe ? '_' : c;
  }
  return rest.empty() ? name : name + " " + rest;
}

Result<std::vector<std::string>> write_files(const Document& document, const BookOptions& options,
                                             const BookParts& parts, int rate_hz) {
  std::vector<std::string> files;
  for (size_t i = 0; i < parts.chapters().size(); ++i) {
    const BookChapter& chapter = parts.chapters()[i];
    if (chapter.samples == 0) {
      continue;
    }
    const std::string path = (fs::path(options.out) / (file_name(i, document.chapters[i].title) +
                                                       "." + std::string(name(options.format))))
                                 .string();
    MYNAH_TRY_STATUS(write_sound(path, options, rate_hz, [&](SoundWriter& writer) {
      return read_chapter(chapter, rate_hz, [&writer](std::span<const float> samples) {
        return writer.write(samples);
      });
    }));
    files.push_back(path);
  }
  return files;
}

Transcript transcript_of(const Document& document, const BookParts& parts, int rate_hz) {
  Transcript transcript;
  const std::vector<uint64_t> begins = begins_of(parts, rate_hz);
  for (size_t i = 0; i < parts.chapters().size(); ++i) {
    for (const BookClause& clause : parts.chapters()[i].clauses) {
      Segment segment;
      segment.id = static_cast<int64_t>(transcript.segments.size());
      segment.start_s = static_cast<double>(begins[i] + clause.start) / rate_hz;
      segment.end_s = static_cast<double>(begins[i] + clause.stop) / rate_hz;
      segment.text =
          " " + document.chapters[i].text.substr(clause.begin, clause.end - clause.begin);
      transcript.segments.push_back(std::move(segment));
    }
  }
  return transcript;
}

}  // namespace

Result<SpokenBook> speak_book(const Document& document, const BookOptions& options,
                              const Synthesizer& synthesizer, Context& context) {
  const auto began = Clock::now();
  const int rate_hz = synthesizer.model().rate_hz();
  std::error_code error;
  const bool folder = options.out.ends_with('/') || fs::is_directory(options.out, error);
  if (folder && options.m4b) {
    return fail(ErrorCode::Usage, "m4b is one file: wanted --out BOOK.m4b, found a folder");
  }
  if (folder) {
    fs::create_directories(options.out, error);
  }
  std::string base = options.out;
  while (base.size() > 1 && base.ends_with('/')) {
    base.pop_back();
  }
  const std::string parts_folder = with_ending(base, ".parts");
  MYNAH_TRY(BookParts parts, BookParts::open(parts_folder, key_of(document, options), rate_hz));
  if (parts.replaced()) {
    context.say(
        fmt::format("{}: begun anew: what a run before left in {} was of another text, voice or "
                    "way of speaking",
                    options.name, parts_folder));
  }
  SpokenBook book;
  size_t resumed_bytes = parts.place().text_bytes;
  for (size_t i = 0; i < parts.chapters().size(); ++i) {
    book.resumed_s += static_cast<double>(parts.chapters()[i].samples) / rate_hz;
    resumed_bytes += document.chapters[i].text.size();
  }
  book.resumed_s += static_cast<double>(parts.samples_in_work()) / rate_hz;
  BookProgress progress(document, options, context);
  if (resumed_bytes > 0) {
    context.say(fmt::format("{}: going on after {} that a run before spoke (kept in {})",
                            options.name, short_duration(book.resumed_s), parts_folder));
    progress.begin(resumed_bytes, book.resumed_s);
  }
  const Status spoken =
      speak_chapters(document, options, synthesizer, parts, progress, book.warnings, context);
  progress.clear();
  if (!spoken) {
    if (spoken.error().code == ErrorCode::Cancelled) {
      context.say(
          fmt::format("{}: stopped; what was spoken is kept in {}, and the same command "
                      "goes on from there",
                      options.name, parts_folder));
    }
    Error why = spoken.error();
    if (is_of_device(why.code)) {
      why.message += fmt::format(
          "; what was spoken is kept in {}, and the same command goes on from there", parts_folder);
    }
    return std::unexpected(std::move(why));
  }
  progress.finish();
  if (folder) {
    MYNAH_TRY(book.files, write_files(document, options, parts, rate_hz));
  } else if (options.m4b) {
    MYNAH_TRY_STATUS(write_m4b(document, options, parts, rate_hz));
    book.files = {options.out};
  } else {
    MYNAH_TRY_STATUS(write_sound(options.out, options, rate_hz, [&](SoundWriter& writer) {
      return write_whole(parts, rate_hz, [&writer](std::span<const float> samples) {
        return writer.write(samples);
      });
    }));
    book.files = {options.out};
  }
  MYNAH_TRY_STATUS(
      write_captions(transcript_of(document, parts, rate_hz), options.captions, context.out));
  book.chapters = parts.chapters().size();
  book.duration_s = static_cast<double>(begins_of(parts, rate_hz).back()) / rate_hz;
  MYNAH_TRY_STATUS(parts.remove());
  book.spent_s = std::chrono::duration<double>(Clock::now() - began).count();
  return book;
}

}  // namespace mynah::cli
