// chat, schema and embed as a user types them, with a language model of some small matrices.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chat/tiny_language.h"
#include "cli/chat/chat.h"
#include "cli/chat/embed.h"
#include "cli/chat/reply_printer.h"
#include "cli/chat/schema.h"
#include "cli/chat/text_place.h"
#include "cli/models/import.h"
#include "cli/models/models.h"
#include "cli/models/pull.h"
#include "cli/test_context.h"
#include "talk/tools/tools_file.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ChatVerbs : public ::testing::Test {
 protected:
  struct Outcome {
    int code = 0;
    std::string out;
    std::string err;
  };

  Outcome mynah(const std::vector<std::string>& arguments) {
    TestProgram program(
        {verb<ChatCommand>("chat", "Converse."), verb<EmbedCommand>("embed", "Make vectors."),
         verb<SchemaCommand>("schema", "Check."), verb<ImportCommand>("import", "Take."),
         verb<PullCommand>("pull", "Bring."), verb<ModelsCommand>("models", "List.")});
    program.environment = {{"HOME", folder_.path()}, {"MYNAH_HOME", folder_ / "home"}};
    program.environment.insert(extra_.begin(), extra_.end());
    const int code = program.run(arguments);
    return {code, program.out.text(), program.err.text()};
  }

  // An answer of the small model.
  Outcome ask(std::vector<std::string> more) {
    const std::string model = folder_ / "tiny.gguf";
    if (!std::filesystem::exists(model)) {
      test::write_tiny_language(model);
    }
    more.insert(more.begin(), {"chat", "Hi", "--model", model, "--device", "cpu", "--seed", "1"});
    return mynah(more);
  }

  std::string file(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  test::TemporaryFolder folder_;
  std::map<std::string, std::string> extra_;
};

TEST_F(ChatVerbs, NumbersOutsideTheirRangesAreRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"--top-p", "3"},          {"--top-p", "-1"},           {"--min-p", "2"},
      {"--temperature", "-1"},   {"--temperature", "inf"},    {"--repeat-penalty", "1e30"},
      {"--repeat-penalty", "0"}, {"--presence-penalty", "9"}, {"--frequency-penalty", "inf"},
      {"--top-k", "-2"},         {"--max-tokens", "-1"},      {"--context", "-1"},
      {"--logprobs", "21"}};
  for (const auto& [option, value] : wrong) {
    // No such model: it is refused before one is looked for.
    const Outcome refused =
        mynah({"chat", "Hi", fmt::format("{}={}", option, value), "--model", "none"});
    EXPECT_EQ(refused.code, 2) << option;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(option + ": wanted a number from "),
                                   HasSubstr(", found " + value)));
  }
  extra_["MYNAH_CONFIG"] = file("config.toml", "[chat]\ntop-p = 3\n");
  const Outcome of_file = mynah({"chat", "Hi"});
  EXPECT_EQ(of_file.code, 2);
  EXPECT_THAT(of_file.err, HasSubstr("top-p: wanted a number from 0 to 1, found 3"));
}

TEST_F(ChatVerbs, AContextBeyondTheTrainingIsRefusedWithBothNumbers) {
  const Outcome refused = ask({"--context", "600"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("tiny was trained for 512 tokens"),
                                 HasSubstr("a context of 600 is wanted")));
  const Outcome all = ask({"--context", "512", "--max-tokens", "2"});
  EXPECT_EQ(all.code, 0) << all.err;
}

TEST_F(ChatVerbs, AConversationThatWasWrittenGoesOn) {
  const auto prompt_tokens = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--max-tokens", "1", "--json"});
    const Outcome answered = ask(std::move(more));
    EXPECT_EQ(answered.code, 0) << answered.err;
    return nlohmann::json::parse(answered.out)["prompt_tokens"].get<int>();
  };
  const std::string said = file("said.json", R"([{"role": "system", "content": "abc"},
      {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])");
  const int alone = prompt_tokens({});
  const int loaded = prompt_tokens({"--load", said});
  EXPECT_GT(loaded, alone + 4);
  EXPECT_GT(prompt_tokens({"--load", said, "--system", "abcdefgh"}), loaded);
  EXPECT_LT(prompt_tokens({"--load", said, "--system", "a"}), loaded);  // in place of the file's
}

TEST_F(ChatVerbs, AFileThatIsNoConversationIsRefusedByName) {
  const std::string missing = folder_ / "missing.json";
  EXPECT_THAT(ask({"--load", missing}).err, HasSubstr(missing));
  for (const char* const text : {"{", "{}", "[7]", R"([{"role": 7}])"}) {
    const std::string wrong = file("wrong.json", text);
    const Outcome refused = ask({"--load", wrong});
    EXPECT_EQ(refused.code, 1) << text;
    EXPECT_THAT(refused.err, HasSubstr(wrong + ": ")) << text;
  }
}

TEST_F(ChatVerbs, ATextWithoutRoomIsToldNoWayThatIsNone) {
  const Outcome full = ask({std::string(600, 'a')});
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, AllOf(HasSubstr("trained for no more"), Not(HasSubstr("--context"))));
  const Outcome of_less = ask({std::string(600, 'a'), "--context", "100"});
  EXPECT_THAT(of_less.err, HasSubstr("(--context)"));
  const Outcome left = ask({std::string(600, 'a'), "--context-policy", "leave-out"});
  EXPECT_EQ(left.code, 1);
  EXPECT_THAT(left.err, HasSubstr("those are never left out"));
}

TEST_F(ChatVerbs, AFileThatCannotBeUsedIsNoModelToRemove) {
  const std::string wrong = file("wrong.gguf", "no model");
  for (const char* const verb : {"chat", "embed"}) {
    const Outcome refused = mynah({verb, "Hi", "--model", wrong});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, AllOf(HasSubstr(wrong), Not(HasSubstr("remove"))));
  }
  EXPECT_THAT(mynah({"embed", "Hi", "--model", folder_.path()}).err, Not(HasSubstr("remove")));
}

TEST_F(ChatVerbs, AnAnswerThatWasCutIsNoneOfItsForm) {
  const std::string schema =
      file("schema.json", R"({"type": "object", "properties": {"name": {"type": "string",
                              "minLength": 40}}, "required": ["name"]})");
  const Outcome cut = ask({"--schema", schema, "--max-tokens", "8"});
  EXPECT_EQ(cut.code, 1);
  EXPECT_THAT(cut.err, HasSubstr("the answer was cut at 8 tokens"));
  const Outcome of_json = ask({"--schema", schema, "--max-tokens", "8", "--json"});
  EXPECT_EQ(of_json.code, 1);
  EXPECT_EQ(nlohmann::json::parse(of_json.out)["notes"].back()["code"], "form_cut");
  // What is whole with its last token was not cut.
  const std::string yes = file("yes.gbnf", "root ::= \"yes\"");
  const Outcome whole = ask({"--grammar", yes, "--max-tokens", "3"});
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(whole.out, "yes\n");
}

TEST_F(ChatVerbs, AFormThatCannotBeReadIsToldWithItsFile) {
  const std::string broken = file("broken.json", "{");
  EXPECT_THAT(ask({"--schema", broken}).err, HasSubstr("--schema " + broken + ": "));
  EXPECT_THAT(mynah({"schema", broken}).err, HasSubstr(broken + ": "));
}

TEST_F(ChatVerbs, SchemaSaysWhereATextIsWrongAndWhatWasWanted) {
  const std::string schema = file("schema.json", R"({"type": "object", "properties": {
      "name": {"type": "string"}, "ages": {"type": "array", "items": {"type": "integer"}}},
      "required": ["name", "ages"]})");
  const auto reason = [&](std::string_view text) {
    const Outcome checked = mynah({"schema", schema, "--check", file("text.json", text)});
    EXPECT_EQ(checked.code, 1) << text;
    return checked.out;
  };
  EXPECT_THAT(reason("{\"name\": \"x\",\n \"ages\": [1, 07]}"),
              AllOf(HasSubstr("line 2, column 15, /ages/1"), HasSubstr("found 7]}")));
  EXPECT_THAT(reason("{\"ages\": [1], \"name\": \"x\"}"),
              AllOf(HasSubstr("line 1, column 3, /)"), HasSubstr("wanted \"name\":"),
                    HasSubstr("found \"ages\":")));
  EXPECT_THAT(reason("{\"name\": 5"), HasSubstr("/name): wanted \", found 5"));
  EXPECT_THAT(reason("{\"name\": \"x\""), HasSubstr("the text ends where the grammar wants more"));
}

TEST_F(ChatVerbs, ANameThatIsNoTextIsToldAllTheSame) {
  const std::string schema = file("\xFF.json", "{}");
  const Outcome told = mynah({"schema", schema, "--json"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("\xEF\xBF\xBD.json\",\"followed\":true"));
  const std::string model = folder_ / "\xFF.gguf";
  std::filesystem::copy_file(MYNAH_SOURCE_DIR "/tests/models/bert/golden/mean.gguf", model);
  const Outcome made = mynah({"embed", "Hi", "--model", model, "--device", "cpu", "--json"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("{\"total\":{\"model\":\"\xEF\xBF\xBD\""));
}

TEST_F(ChatVerbs, SchemaSaysWhichKeywordAValueDoesNotKeepTo) {
  const std::string schema = file("schema.json", R"({"type": "object", "properties": {
      "age": {"$ref": "#/$defs/age"}, "size": {"enum": ["s", "m"]},
      "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}},
      "code": {"type": "string", "pattern": "^[a-z]+$"}}, "required": ["age"],
      "$defs": {"age": {"type": "integer", "minimum": 18, "maximum": 120}}})");
  const auto reason = [&](std::string_view text) {
    const Outcome checked = mynah({"schema", schema, "--check", file("text.json", text)});
    EXPECT_EQ(checked.code, 1) << text;
    return checked.out;
  };
  EXPECT_THAT(reason(R"({"age": 200})"),
              HasSubstr("/age): wanted at most 120 (maximum), found 200\n"));
  EXPECT_THAT(reason(R"({"age": 7})"), HasSubstr("/age): wanted at least 18 (minimum), found 7\n"));
  EXPECT_THAT(reason(R"({"age": "7"})"), HasSubstr("wanted an integer (type), found \"7\"\n"));
  EXPECT_THAT(reason(R"({"age": 20, "size": "l"})"),
              HasSubstr("/size): wanted one of \"s\", \"m\" (enum), found \"l\"\n"));
  EXPECT_THAT(reason(R"({"age": 20, "tags": ["abc", "abcd"]})"),
              HasSubstr("/tags/1): wanted at most 3 characters (maxLength), found \"abcd\"\n"));
  EXPECT_THAT(reason(R"({"age": 20, "code": "a1"})"),
              HasSubstr("/code): wanted ^[a-z]+$ (pattern), found \"a1\"\n"));
  // What is wrong stands behind a value that is right.
  EXPECT_THAT(reason(R"({"age": 20, "code": "a", "more": 1})"), Not(HasSubstr("(pattern)")));
  const Outcome of_json =
      mynah({"schema", schema, "--json", "--check", file("text.json", R"({"age": 200})")});
  EXPECT_EQ(nlohmann::json::parse(of_json.out)["wanted"].get<std::string>(),
            "at most 120 (maximum)");
}

TEST_F(ChatVerbs, AFolderIsNoFileOfTexts) {
  const Outcome refused = mynah({"embed", "--file", folder_.path()});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("is a folder"));
}

TEST_F(ChatVerbs, AFilesNameAmongTextsIsATextAndThatIsSaid) {
  const std::string notes = file("notes.txt", "One.\nTwo.\n");
  const std::string model = test::source_path("tests/models/bert/golden/tiny");
  const Outcome named = mynah({"embed", notes, "--model", model, "--device", "cpu"});
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(std::ranges::count(named.out, '\n'), 1);
  EXPECT_THAT(named.err, HasSubstr(notes + " is taken as a text"));
  EXPECT_THAT(named.err, HasSubstr("--file " + notes + " reads it"));
  EXPECT_THAT(mynah({"embed", "Notes", "--model", model, "--device", "cpu"}).err,
              Not(HasSubstr("taken as a text")));
}

TEST_F(ChatVerbs, OneFileOfTextsIsRead) {
  const Outcome refused =
      mynah({"embed", "--file", file("a.txt", "One."), "--file", file("b.txt", "Two.")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--file was given more than once"));
}

TEST_F(ChatVerbs, AModelWithoutATemplateIsTakenOnlyByName) {
  const std::string model = test::write_tiny_language(folder_ / "tiny.gguf");
  EXPECT_EQ(mynah({"import", model, "--name", "talks"}).code, 0);
  const std::string silent = test::write_tiny_language(folder_ / "silent.gguf", {});
  EXPECT_EQ(mynah({"import", silent, "--name", "silent"}).code, 0);
  const Outcome answered = mynah({"chat", "Hi", "--json", "--max-tokens", "2", "--device", "cpu"});
  EXPECT_EQ(answered.code, 0) << answered.err;
  EXPECT_EQ(nlohmann::json::parse(answered.out)["model"], "talks");
  const Outcome refused = mynah({"chat", "Hi", "--model", "silent", "--device", "cpu"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("silent was not taught to converse"));
}

TEST_F(ChatVerbs, ToolsThatATemplateDoesNotKnowAreToldInWords) {
  const std::string tools = file("tools.json", R"([{"name": "clock", "parameters": {}}])");
  EXPECT_THAT(ask({"--tools", tools, "--max-tokens", "2"}).err, Not(HasSubstr("in words")));
  test::write_tiny_language(
      folder_ / "tiny.gguf",
      "{%- for message in messages %}{{- message.role + message.content }}{%- endfor %}");
  EXPECT_THAT(ask({"--tools", tools, "--max-tokens", "2"}).err,
              HasSubstr("the model's chat template knows no tools: they were told to it in words"));
  const Outcome of_json = ask({"--tools", tools, "--max-tokens", "2", "--json"});
  EXPECT_EQ(nlohmann::json::parse(of_json.out)["notes"][0]["code"], "tools_told_in_words");
}

TEST_F(ChatVerbs, LanguageModelsArePulledAsTheyAreAndShownBeforeTheyAreHere) {
  const Outcome refused = mynah({"pull", "smollm2", "--type", "q8_0", "--offline"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--type: smollm2 is a language model"));
  const Outcome shown = mynah({"models", "show", "gpt-oss"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("not here"), HasSubstr("needs ")));
}

TEST_F(ChatVerbs, WhatALanguageModelIsIsShown) {
  const std::string model = test::write_tiny_language(folder_ / "tiny.gguf");
  ASSERT_EQ(mynah({"import", model, "--name", "tiny"}).code, 0);
  const Outcome shown = mynah({"models", "show", "tiny"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("network   llama, 0.0"),
                               HasSubstr("M parameters, trained for 512 tokens\n")));
  const auto json = nlohmann::json::parse(mynah({"models", "show", "tiny", "--json"}).out);
  EXPECT_EQ(json["architecture"].get<std::string>(), "llama");
  EXPECT_GT(json["parameters"].get<int64_t>(), 1000);
  EXPECT_EQ(json["trained_context"].get<int64_t>(), 512);
}

TEST(ToolsFile, ThatIsNoneOrABombIsRefusedWithItsName) {
  constexpr size_t kDeep = 100'000;  // far more than copying one by recursion has stack for
  const std::string deep = std::string(kDeep, '[') + std::string(kDeep, ']');
  for (const std::string& text :
       {deep, R"([{"name": "f", "parameters": {"a": )" + deep + "}}]", R"({"tools": )" + deep + "}",
        std::string("{"), std::string(), std::string("7"), std::string("[7]"),
        std::string(R"([{"name": "f", "command": {}}])"),
        std::string(R"([{"name": "f", "command": ["a", 7]}])"),
        std::string("[{\"name\": \"\xFF\"}]")}) {
    const auto read = talk::ToolsFile::parse(text, "tools.json");
    ASSERT_FALSE(read) << text.substr(0, 80);
    EXPECT_EQ(read.error().code, ErrorCode::InvalidInput);
    EXPECT_THAT(read.error().message, HasSubstr("tools.json: ")) << text.substr(0, 80);
  }
  const auto read =
      talk::ToolsFile::parse(R"({"z": 1, "name": "f", "command": "date", "a": 2})", "a");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->described().size(), 1U);
  EXPECT_EQ(read->described()[0].facts.told.dump(),
            R"({"z":1,"name":"f","a":2})");  // in its own order
  EXPECT_EQ(read->described()[0].command, (std::vector<std::string>{"/bin/sh", "-c", "date"}));
}

TEST(ReplyPrinter, LeavesOutWhatWouldCommandATerminal) {
  constexpr std::string_view kHostile =
      "a\x1b]52;c;bHM=\x07\tb\x7f\xC2\x9B"
      "2J\r\xC3\xA9\n";  // writes the clipboard, empties the screen
  for (const bool is_terminal : {true, false}) {
    OutputStream out;
    out.set_terminal(is_terminal);
    ReplyPrinter printer(out, false);
    ChatDelta delta;
    delta.said.content = kHostile;
    ASSERT_TRUE(printer.on_delta(delta));
    printer.finish();
    EXPECT_EQ(out.text(), is_terminal ? "a]52;c;bHM=\tb2J\xC3\xA9\n" : kHostile);
  }
}

TEST(TextPlace, FollowsObjectsAndLists) {
  const auto path = [](std::string_view before) { return place_in_json(before).path; };
  EXPECT_EQ(path(""), "");
  EXPECT_EQ(path(R"({"a)"), "");
  EXPECT_EQ(path(R"({"a/b": )"), "/a~1b");
  EXPECT_EQ(path(R"({"a": {"\"": [{}, [1, 2)"), R"(/a/\"/1/1)");
  EXPECT_EQ(path(R"({"a": "]}:,", "b": )"), "/b");
  EXPECT_EQ(path(R"({"a": 1})"), "");
  EXPECT_EQ(path("]]}"), "");  // brackets that close nothing
  const TextPlace place = place_in_json("[\n  \"\xC3\xA4\xC3\xA4");
  EXPECT_EQ(place.line, 2U);
  EXPECT_EQ(place.column, 6U);
  EXPECT_EQ(place.word_begin, 4U);
}

}  // namespace
}  // namespace mynah::cli
