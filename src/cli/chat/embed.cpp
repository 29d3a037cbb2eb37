#include "cli/chat/embed.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "chat/vector_text.h"
#include "cli/models/store_access.h"
#include "cli/models/surroundings.h"
#include "cli/placement/engine_fields.h"
#include "cli/placement/placement_answer.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// Texts that are read before any is computed: of so many, enough are of like lengths.
constexpr size_t kLinesTogether = 512;
constexpr double kMostNear = 1e6;

std::string json_line(const std::string& text, const Embedding& made) {
  Json line = {{"text", text}, {"tokens", made.tokens}, {"left_out", made.left_out}};
  std::string written = line.dump(-1, ' ', false, Json::error_handler_t::replace);
  written.pop_back();
  return fmt::format("{},\"embedding\":{}}}", written, vector_json(made.vector));
}

}  // namespace

void EmbedCommand::fields(Fields& fields) {
  fields
      .positional("TEXT", words_,
                  "Texts, each of which becomes a vector; - for standard input, a text a line.")
      .as_optional();
  fields.option("file", "FILE", file_, "A file with a text in each line, - for standard input.")
      .shorter('f')
      .completes(Complete::Files)
      .once();
  fields.option("dimensions", "N", options_.dimensions,
                "The first N numbers of each vector, for models that were trained for that; 0: "
                "all.");
  fields.flag("cut", options_.cuts,
              "Of a text that is longer than the model reads take its beginning, and say so; else "
              "it is refused.");
  fields
      .option("nearest", "TEXT", asked_,
              "No vectors, but the texts that are nearest to this one in meaning, the nearest "
              "first: cosine, number and text, with tabs between.")
      .once();
  fields.option("top", "N", most_, "So many of those.").within(1, kMostNear).once();
  fields.section("Model and device");
  fields
      .option("model", "NAME", wish_.model,
              "A model that was pulled or imported, a folder of sentence-transformers or a GGUF "
              "file; auto: the newest of those here.")
      .shorter('m')
      .completes(Complete::Models);
  device_field(fields, wish_.placement.device, std::string(kDeviceHelp));
  limit_fields(fields, wish_.placement);
  threads_field(fields, wish_.placement);
  fields.choice("precision", "HOW", wish_.placement.precision,
                {{"fast", Precision::Fast}, {"exact", Precision::Exact}},
                "Arithmetic: as fast as leaves cosines within 0.0001, or in f32 everywhere.");
  fields.flag("explain", explain_, "Say on stderr which model and device, and why.");
  fields.flag("timings", timings_, "Say on stderr how long it took.");
}

std::string EmbedCommand::details() const {
  return "Each text becomes a line of numbers on stdout, in the order of the texts; with --json "
         "an\n"
         "object a line, and one with the total behind them. Texts of like meaning have vectors "
         "of\n"
         "a large cosine, which is the sum of products where they are as long as one (minilm's\n"
         "are). An empty line is a text, too, so that lines and vectors stay side by side.\n"
         "--nearest compares the texts itself: grep by meaning.\n\n" +
         device_details();
}

Status EmbedCommand::embed(Context& context, const engine::OpenedEmbedder& opened,
                           const std::vector<std::string>& texts, StoreObserver& progress,
                           Made& made) {
  auto vectors = opened.embedder->embed(texts, options_, context.stop);
  if (!vectors) {
    return std::unexpected(std::move(vectors).error());
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const Embedding& one = (*vectors)[i];
    if (one.left_out > 0) {
      progress.on_message(
          fmt::format("text {}: {} tokens, of which the model reads {}: the rest is left "
                      "out (--no-cut refuses such a text)",
                      made.texts + i + 1, one.tokens + one.left_out, one.tokens));
      ++made.cut;
    }
    made.tokens += one.tokens;
    if (!nearest_) {
      context.out.line(context.json ? json_line(texts[i], one) : vector_columns(one.vector));
    } else if (!texts[i].empty()) {
      nearest_->add(made.texts + i + 1, texts[i], one.vector);
    }
  }
  made.texts += texts.size();
  return {};
}

Status EmbedCommand::embed_lines(Context& context, const engine::OpenedEmbedder& opened,
                                 Made& made) {
  std::ifstream file;
  uint64_t size = 0;  // 0: nobody knows
  if (file_ != "-" && !file_.empty()) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file_, ignored)) {
      size = std::filesystem::file_size(file_, ignored);
    }
    file.open(file_, std::ios::binary);
    if (!file) {
      return fail(ErrorCode::NotFound,
                  fmt::format("wanted a file with a text in each line, cannot read {}", file_));
    }
  }
  const auto next = [&]() -> std::optional<std::string> {
    if (!file.is_open()) {
      return context.in.read_line();
    }
    std::string line;
    return std::getline(file, line) ? std::optional(std::move(line)) : std::nullopt;
  };
  StoreProgress progress(context);
  const std::string called = file.is_open() ? file_ : "standard input";
  uint64_t read = 0;
  std::vector<std::string> texts;
  bool more = true;
  while (more && !context.out.failed()) {
    auto line = next();
    more = line.has_value();
    if (line) {
      read += line->size() + 1;
      if (line->ends_with('\r')) {
        line->pop_back();
      }
      texts.push_back(*std::move(line));
    }
    if (!texts.empty() && (!more || texts.size() == kLinesTogether)) {
      MYNAH_TRY_STATUS(embed(context, opened, texts, progress, made));
      texts.clear();
      // A terminal shows the vectors as they come.
      if (more && !context.out.is_terminal()) {
        progress.on_progress(called, read, size);
      }
    }
  }
  return {};
}

void EmbedCommand::tell_nearest(Context& context) const {
  for (const NearText& near : nearest_->found()) {
    if (context.json) {
      const Json line = {{"cosine", near.cosine}, {"number", near.number}, {"text", near.text}};
      context.out.line(line.dump(-1, ' ', false, Json::error_handler_t::replace));
    } else {
      context.out.line(fmt::format("{:.3f}\t{}\t{}", near.cosine, near.number, near.text));
    }
  }
}

void EmbedCommand::tell_total(Context& context, const engine::OpenedEmbedder& opened,
                              const Made& made, double seconds) const {
  if (context.json) {
    const Json total = {{"model", opened.name},
                        {"dimensions", options_.dimensions > 0 ? options_.dimensions
                                                               : opened.embedder->facts().width},
                        {"texts", made.texts},
                        {"tokens", made.tokens},
                        {"cut", made.cut},
                        {"seconds", seconds},
                        {"placement", placement_json(opened.placer.get())}};
    // A path may be no UTF-8.
    context.out.line(Json({{"total", total}}).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  if (timings_) {
    context.say(fmt::format("{} {} of {} {} in {:.2f} s: {:.0f} tokens a second", made.texts,
                            made.texts == 1 ? "text" : "texts", made.tokens,
                            made.tokens == 1 ? "token" : "tokens", seconds,
                            static_cast<double>(made.tokens) / seconds));
  }
}

Result<int> EmbedCommand::run(Context& context) {
  const bool reads_lines = !file_.empty() || words_ == std::vector<std::string>{"-"} ||
                           (words_.empty() && !context.in.is_terminal());
  if (!file_.empty() && !words_.empty()) {
    return fail(ErrorCode::Usage, "wanted texts, or --file with a text in each line, not both");
  }
  if (!reads_lines && words_.empty()) {
    return fail(ErrorCode::Usage,
                "wanted texts: mynah embed \"...\" \"...\", or a text a line on standard input");
  }
  if (asked_ && asked_->empty()) {
    return fail(ErrorCode::Usage, "wanted words behind --nearest, found none");
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(file_, ignored)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a file with a text in each line, {} is a folder", file_));
  }
  for (const std::string& word : words_) {
    if (word != "-" && std::filesystem::is_regular_file(word, ignored)) {
      context.say(
          fmt::format("{0} is taken as a text, though there is a file called so: --file {0} "
                      "reads it",
                      word));
    }
  }
  MYNAH_TRY(const engine::OpenedEmbedder opened,
            engine::open_embedder(wish_, surroundings_of(context)));
  if (explain_) {
    say_each(context, opened.explanation);
  }
  Made made;
  const auto begun = Clock::now();
  StoreProgress few(context);
  if (asked_) {
    const std::vector<std::string> asked = {*asked_};
    MYNAH_TRY(auto vectors, opened.embedder->embed(asked, options_, context.stop));
    nearest_.emplace(std::move(vectors.front().vector), most_);
  }
  Status done =
      reads_lines ? embed_lines(context, opened, made) : embed(context, opened, words_, few, made);
  if (!done) {
    return context.stop.stop_requested() ? Result<int>(context.stopped_exit_code())
                                         : std::unexpected(std::move(done).error());
  }
  if (nearest_) {
    tell_nearest(context);
  }
  tell_total(context, opened, made, std::chrono::duration<double>(Clock::now() - begun).count());
  if (explain_) {
    say_times(context, opened.placer.get());
  }
  MYNAH_TRY_STATUS(opened.placer->settle());
  return 0;
}

}  // namespace mynah::cli
