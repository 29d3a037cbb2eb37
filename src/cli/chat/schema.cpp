#include "cli/chat/schema.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/files.h"
#include "text/grammar/constraint.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;
using Kind = grammar::ConstraintSource::Kind;

constexpr size_t kMostText = size_t{64} << 20;

// Bytes as tokens, and one that ends a text: what any model's vocabulary can write at most.
Result<std::shared_ptr<const grammar::TokenVocabulary>> bytes_as_tokens() {
  constexpr int kBytes = 256;
  std::vector<std::string> bytes;
  for (int byte = 0; byte < kBytes; ++byte) {
    bytes.emplace_back(1, static_cast<char>(byte));
  }
  bytes.emplace_back();
  const int32_t end = kBytes;
  return grammar::TokenVocabulary::create(
      {.bytes = bytes, .control = {}, .ends = std::span(&end, 1)});
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
  MYNAH_TRY(std::string source, text_of(words_.front(), context));
  MYNAH_TRY(const grammar::Grammar grammar,
            grammar::grammar_of(
                {.kind = kind_, .text = std::move(source), .choices = {}, .schema = schema_}));
  MYNAH_TRY(auto vocabulary, bytes_as_tokens());
  MYNAH_TRY(const auto constraint, grammar::Constraint::compile(grammar, std::move(vocabulary)));
  if (checked_.empty()) {
    context.out.line(context.json ? Json({{"schema", words_.front()}, {"followed", true}}).dump()
                                  : fmt::format("{} can be followed", words_.front()));
    return 0;
  }
  bool refused = false;
  for (const std::string& file : checked_) {
    MYNAH_TRY(const std::string text, text_of(file, context));
    const Status fits = grammar::accepts(constraint, text);
    refused = refused || !fits;
    const std::string reason = fits ? std::string() : fits.error().message;
    if (context.json) {
      const Json found = {{"file", file}, {"accepted", fits.has_value()}, {"reason", reason}};
      context.out.line(found.dump(-1, ' ', false, Json::error_handler_t::replace));
    } else {
      context.out.line(fits ? fmt::format("{}: accepted", file)
                            : fmt::format("{}: refused: {}", file, reason));
    }
  }
  return refused ? 1 : 0;
}

}  // namespace mynah::cli
