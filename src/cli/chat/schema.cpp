#include "cli/chat/schema.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/chat/schema_value.h"
#include "cli/chat/shown_text.h"
#include "cli/chat/text_place.h"
#include "store/files.h"
#include "text/grammar/constraint.h"
#include "text/grammar/token_set.h"
#include "text/utf8.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;
using Kind = grammar::ConstraintSource::Kind;

constexpr size_t kMostText = size_t{64} << 20;

// Bytes as tokens, and one that ends a text: what any model's vocabulary can write at most.
Result<std::shared_ptr<const grammar::TokenVocabulary>> bytes_as_tokens() {
  constexpr int kBytes = 256;
  std::vector<std::string> bytes;
  bytes.reserve(kBytes + 1);
  for (int byte = 0; byte < kBytes; ++byte) {
    bytes.emplace_back(1, static_cast<char>(byte));
  }
  bytes.emplace_back();
  const int32_t end = kBytes;
  return grammar::TokenVocabulary::create(
      {.bytes = bytes, .control = {}, .ends = std::span(&end, 1)});
}

// Bytes that may come next, as they are written, with runs as "0 to 9"; "": any of many.
std::string choices_at(const grammar::ConstraintState& state) {
  constexpr int kMost = 4;
  constexpr int kFirst = 0x21;  // blanks are no news
  constexpr int kLast = 0x7E;
  std::vector<uint32_t> bits(state.constraint().vocabulary().mask_words());
  std::string choices;
  if (!state.mask(bits)) {
    return choices;
  }
  int count = 0;
  for (int byte = kFirst; byte <= kLast; ++byte) {
    if (!grammar::has_token_bit(bits, byte)) {
      continue;
    }
    const int first = byte;
    while (byte < kLast && grammar::has_token_bit(bits, byte + 1)) {
      ++byte;
    }
    choices += fmt::format("{}{}", count == 0 ? "" : " or ", static_cast<char>(first));
    choices += first < byte ? fmt::format(" to {}", static_cast<char>(byte)) : "";
    ++count;
  }
  return count > kMost ? std::string() : choices;
}

// What is told of a text that does not keep to a schema.
struct Fault {
  size_t byte = 0;
  TextPlace place;
  std::string wanted;  // "": too much to say
  std::string reason;  // all of it, for people
};

// A file's name may be no UTF-8.
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shortened(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string start(text.substr(0, text.find('\n')));
  const bool is_whole = start.size() <= kMost;
  start.resize(std::min(start.size(), kMost));
  return shown_text(replace_invalid_utf8(start)) + (is_whole ? "" : "...");
}

// `schema`: its text where it is a JSON schema; "": another grammar.
Fault fault_of(const std::shared_ptr<const grammar::Constraint>& constraint,
               const std::string& text, const std::string& schema) {
  const bool is_json = !schema.empty();
  grammar::ConstraintState state(constraint);
  Fault fault;
  size_t& at = fault.byte;
  while (at < text.size() && state.accept(std::string_view(text).substr(at, 1))) {
    ++at;
  }
  fault.place = place_in_json(std::string_view(text).substr(0, at));
  const size_t begin = is_json ? fault.place.word_begin : at;
  // A name that must stand there is told whole. Before its quote there may be blanks, too.
  const bool in_string = begin < at && text[begin] == '"';
  grammar::ConstraintState before(constraint);
  const Status taken = before.accept(text.substr(0, begin + (in_string ? 1 : 0)));
  std::string forced = taken ? before.forced() : std::string();
  if (in_string && !forced.empty()) {
    forced.insert(0, 1, '"');
  }
  fault.wanted = forced.empty() ? choices_at(state) : forced;
  if (state.may_end()) {
    fault.wanted += fault.wanted.empty() ? "the end" : " or the end";
  }
  const auto of_value =
      is_json ? fault_of_value(schema, text, fault.place.path, fault.place.word_begin < at)
              : std::nullopt;
  if (of_value) {
    fault.wanted = of_value->wanted;
  }
  const std::string path =
      is_json ? ", " + (fault.place.path.empty() ? "/" : fault.place.path) : "";
  fault.reason = fmt::format(
      "at byte {} (line {}, column {}{}): {}{}", at, fault.place.line, fault.place.column, path,
      fault.wanted.empty() ? "" : fmt::format("wanted {}, ", shortened(fault.wanted)),
      of_value ? fmt::format("found {}", shortened(of_value->found))
      : at == text.size()
          ? "the text ends where the grammar wants more"
          : fmt::format("found {}", shortened(text.substr(forced.empty() ? at : begin))));
  return fault;
}

Result<std::string> text_of(const std::string& file, Context& context) {
  Result<std::string> text = file == "-" ? context.in.read_to_end(kMostText) : read_text_file(file);
  // An answer has no line's end behind it, and a file has.
  while (text && text->ends_with('\n')) {
    text->pop_back();
  }
  return text;
}

}  // namespace

void SchemaCommand::fields(Fields& fields) {
  fields.positional("SCHEMA", words_, "A JSON schema's file, or a grammar's.")
      .completes(Complete::Files);
  fields
      .names("check", "FILE", checked_,
             "A text that is looked at; - for standard input. May be given several times.")
      .completes(Complete::Files);
  fields.choice("kind", "WHAT", kind_,
                {{"json-schema", Kind::JsonSchema}, {"gbnf", Kind::Gbnf}, {"regex", Kind::Regex}},
                "What SCHEMA is.");
  fields.flag("strict", schema_.strict,
              "Wants of objects what OpenAI's strict does: all properties required, no others.");
  fields.flag("open", schema_.open_objects,
              "Objects that list properties may have others, where the schema does not say no.");
}

std::string SchemaCommand::details() const {
  return "Says whether mynah can follow a schema, or which part of it not, and whether texts keep "
         "to\n"
         "it: by the same masks that answers are written under. Exit code 1: something is "
         "refused.\n";
}

Result<int> SchemaCommand::run(Context& context) {
  if (words_.size() != 1) {
    return fail(ErrorCode::Usage, "wanted a schema's file: mynah schema SCHEMA --check FILE");
  }
  MYNAH_TRY(const std::string source, text_of(words_.front(), context));
  auto read =
      grammar::grammar_of({.kind = kind_, .text = source, .choices = {}, .schema = schema_});
  if (!read) {
    return std::unexpected(std::move(read).error().while_doing(words_.front()));
  }
  const grammar::Grammar grammar = *std::move(read);
  MYNAH_TRY(auto vocabulary, bytes_as_tokens());
  MYNAH_TRY(const auto constraint, grammar::Constraint::compile(grammar, std::move(vocabulary)));
  if (checked_.empty()) {
    context.out.line(context.json ? dumped({{"schema", words_.front()}, {"followed", true}})
                                  : fmt::format("{} can be followed", words_.front()));
    return 0;
  }
  bool refused = false;
  for (const std::string& file : checked_) {
    MYNAH_TRY(const std::string text, text_of(file, context));
    const Status fits = grammar::accepts(constraint, text);
    refused = refused || !fits;
    std::string reason = fits ? std::string() : fits.error().message;
    Json found = {{"file", file}, {"accepted", fits.has_value()}};
    if (!fits && fits.error().code == ErrorCode::InvalidInput) {
      Fault fault = fault_of(constraint, text, kind_ == Kind::JsonSchema ? source : std::string());
      reason = std::move(fault.reason);
      found.update({{"byte", fault.byte},
                    {"line", fault.place.line},
                    {"column", fault.place.column},
                    {"path", fault.place.path},
                    {"wanted", fault.wanted}});
    }
    found["reason"] = reason;
    if (context.json) {
      context.out.line(dumped(found));
    } else {
      context.out.line(fits ? fmt::format("{}: accepted", file)
                            : fmt::format("{}: refused: {}", file, reason));
    }
  }
  return refused ? 1 : 0;
}

}  // namespace mynah::cli
