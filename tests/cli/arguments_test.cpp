// What stands on a command line reaches the verbs as it was written.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command/parse.h"
#include "cli/command/peer_flags.h"
#include "cli/command/program.h"
#include "cli/verbs.h"

namespace mynah::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Arguments = std::vector<std::string>;

// Text that some parser of command lines takes for something else: lists, flags, comments, quotes.
Arguments odd_texts() {
  Arguments texts = {"",
                     "[]",
                     "[a,b]",
                     "[Laughs, then leaves]",
                     "[pause:1s] Hello [pause:2s]",
                     "[[x]]",
                     "['a','b']",
                     "a,b",
                     "{a,b}",
                     "\"quoted\"",
                     "'quoted'",
                     "`a`",
                     "%%",
                     "#a",
                     "a=b",
                     "=",
                     "=a",
                     "~",
                     "$HOME",
                     "\\",
                     "\n",
                     "\x01",
                     "a\tb",
                     " a ",
                     "True",
                     "false",
                     "none",
                     "-1",
                     "- no",
                     "-- no",
                     "--- no",
                     "-5",
                     "+a",
                     "@file",
                     "/h",
                     "日本語",
                     "—Élan",
                     "\xff",
                     "*",
                     "[rec]"};
  const std::string alphabet = "[],{}()'\"`%#=-+ \\\n\t:;/ab1\x01\x7f\xc3";
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (auto length = random() % 12; length > 0; --length) {
      text += alphabet[random() % alphabet.size()];
    }
    texts.push_back(text);
  }
  return texts;
}

// A verb's options; what they and its arguments are given is kept, and nothing else is done.
struct Heard {
  explicit Heard(const Verb& verb) : described(describe(verb)) {
    for (Field& field : described->fields.all()) {
      field.set = [this, &field](const std::string& text) -> Status {
        given.emplace_back(field.name, text);
        return {};
      };
      field.clear = [] {};
    }
  }

  Status parse(const Arguments& arguments) {
    given.clear();
    MYNAH_TRY(const Arguments own, described->command->translate(arguments, described->fields));
    return parse_flags(described->fields, own);
  }

  std::unique_ptr<DescribedVerb> described;
  std::vector<std::pair<std::string, std::string>> given;
};

bool is_peers(std::string_view name) {
  for (const auto flags : {whisper_flags(), piper_flags()}) {
    for (const PeerFlag& flag : flags) {
      if (flag.longer.substr(2) == name) {
        return true;
      }
    }
  }
  return false;
}

TEST(EveryVerb, TakesAnyTextAsAnArgument) {
  for (const Verb& verb : all_verbs()) {
    Heard heard(verb);
    const auto& fields = heard.described->fields.all();
    const auto positional = std::ranges::find_if(fields, &Field::positional);
    if (positional == fields.end()) {
      continue;
    }
    for (const std::string& text : odd_texts()) {
      const auto once = std::pair(positional->name, text);
      const bool flag = text.size() > 1 && text[0] == '-' && text[1] != ' ';
      if (!flag) {
        ASSERT_TRUE(heard.parse({text})) << verb.name << " " << text;
        ASSERT_THAT(heard.given, ElementsAre(once)) << verb.name;
      }
      ASSERT_TRUE(heard.parse({"--", text})) << verb.name << " " << text;
      ASSERT_THAT(heard.given, ElementsAre(once)) << verb.name;
    }
  }
}

TEST(EveryVerb, TakesAnyTextAsAValue) {
  for (const Verb& verb : all_verbs()) {
    Heard heard(verb);
    for (const Field& field : heard.described->fields.all()) {
      if (field.positional || field.value.empty() || is_peers(field.name)) {
        continue;
      }
      // Of a file's name nothing is none: it would be another output than the one that is meant.
      const bool file = field.flag_only &&
                        (field.complete == Complete::Files || field.complete == Complete::Folders);
      for (const std::string& text : odd_texts()) {
        if (file && text.empty()) {
          ASSERT_FALSE(heard.parse({"--" + field.name, text})) << verb.name << " " << field.name;
          continue;
        }
        const auto once = std::pair(field.name, text);
        ASSERT_TRUE(heard.parse({"--" + field.name, text})) << verb.name << " " << field.name;
        ASSERT_THAT(heard.given, ElementsAre(once)) << verb.name;
        ASSERT_TRUE(heard.parse({"--" + field.name + "=" + text})) << verb.name << field.name;
        ASSERT_THAT(heard.given, ElementsAre(once)) << verb.name;
      }
    }
  }
}

TEST(EveryVerb, TakesAFlagBehindAnOptionForItsValue) {
  for (const Verb& verb : all_verbs()) {
    if (verb.name != "transcribe" && verb.name != "speak") {
      continue;
    }
    Heard heard(verb);
    for (const std::string text : {"-m", "--", "-t", "--json", "-otxt", "-s"}) {
      ASSERT_FALSE(heard.parse({"--lang=en", "--device-folder", "x"}).error().message.empty());
      const std::string option = verb.name == "speak" ? "lexicon" : "hotwords";
      ASSERT_TRUE(heard.parse({"--" + option, text}));
      EXPECT_THAT(heard.given, ElementsAre(std::pair(option, text)));
    }
  }
}

TEST(EveryVerb, TakesPeersValuesAsTheyAre) {
  const auto verbs = all_verbs();
  Heard transcribe(*std::ranges::find(verbs, "transcribe", &Verb::name));
  ASSERT_TRUE(transcribe.parse({"--prompt", "[x, y]", "-f", "[a,b].wav", "-of", "[out]"}));
  EXPECT_THAT(transcribe.given, testing::UnorderedElementsAre(std::pair("initial-prompt", "[x, y]"),
                                                              std::pair("FILE", "[a,b].wav"),
                                                              std::pair("output-file", "[out]"),
                                                              std::pair("style", "whisper.cpp")));
  ASSERT_TRUE(transcribe.parse({"-f", "-odd.wav"}));
  EXPECT_THAT(transcribe.given, testing::Contains(std::pair("FILE", "./-odd.wav")));
}

TEST(CommandLine, TextThatLooksLikeAFlagIsSaidToNeedAMark) {
  const auto verbs = all_verbs();
  Heard speak(*std::ranges::find(verbs, "speak", &Verb::name));
  EXPECT_THAT(speak.parse({"-Hello there"}).error().message,
              HasSubstr("put -- before text that begins with a hyphen"));
  EXPECT_TRUE(speak.parse({"--", "-Hello there"}));
}

TEST(CommandLine, ShortSwitchesMayStandTogether) {
  const auto verbs = all_verbs();
  Heard transcribe(*std::ranges::find(verbs, "transcribe", &Verb::name));
  for (const Arguments& arguments :
       {Arguments{"-qo[out]", "-q"}, Arguments{"-q", "-qo", "[out]"}}) {
    ASSERT_TRUE(transcribe.parse(arguments));
    EXPECT_THAT(transcribe.given, testing::UnorderedElementsAre(std::pair("quiet", "true"),
                                                                std::pair("output-dir", "[out]")));
  }
  EXPECT_EQ(transcribe.parse({"-qZ"}).error().message.substr(0, 17), "unknown option -Z");
}

TEST(CommandLine, SwitchesAreTurnedOffInEverySpelling) {
  const auto verbs = all_verbs();
  Heard transcribe(*std::ranges::find(verbs, "transcribe", &Verb::name));
  for (const std::string off : {"--no-vad", "--vad=false", "--no-vad=true", "--vad=0"}) {
    ASSERT_TRUE(transcribe.parse({off}));
    const std::string expected = off == "--vad=0" ? "0" : "false";
    EXPECT_THAT(transcribe.given, ElementsAre(std::pair("vad", expected)));
  }
  EXPECT_FALSE(transcribe.parse({"--no-vad=maybe"}));
}

struct Time {
  std::string text;
  double seconds;
};

TEST(CommandLine, AnOutputThatIsGivenTwiceIsToldAndNotReplaced) {
  std::string out;
  std::string voice;
  bool quiet = false;
  Fields fields;
  fields.option("out", "FILE", out, "").shorter('o').once();
  fields.option("voice", "NAME", voice, "");
  fields.flag("quiet", quiet, "").once();
  const Status twice = parse_flags(fields, {"-o", "a.wav", "--out=b.wav"});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message,
            "--out was given more than once, as 'a.wav' and as 'b.wav': wanted one");
  EXPECT_TRUE(parse_flags(fields, {"-o", "a.wav", "-o", "a.wav", "--voice", "x", "--voice", "y",
                                   "--quiet", "--no-quiet"}));
  EXPECT_EQ(voice, "y");
}

TEST(Numbers, WithACommaAreToldWithThePoint) {
  EXPECT_EQ(parse_number("1,5").error().message,
            "wanted a number, found '1,5' (decimals have a point here: 1.5)");
  for (const std::string text : {"1,5,2", ",5", "a,b", ""}) {
    EXPECT_EQ(parse_number(text).error().message, "wanted a number, found '" + text + "'");
  }
}

TEST(Times, AreSecondsOrMinutesOrHoursToo) {
  for (const Time& time :
       {Time{"75", 75}, Time{"75.5", 75.5}, Time{"0", 0}, Time{"1:15", 75}, Time{"1:15.5", 75.5},
        Time{"0:01:15.5", 75.5}, Time{"01:00:00", 3600}, Time{"90:00", 5400},
        Time{"00:01:15,500", 75.5}, Time{"1:5", 65}, Time{"100:00:01", 360001}}) {
    const auto parsed = parse_time(time.text);
    ASSERT_TRUE(parsed) << time.text;
    EXPECT_DOUBLE_EQ(*parsed, time.seconds) << time.text;
  }
}

TEST(Times, ThatAreNoneAreToldWithTheForms) {
  for (const std::string text :
       {"", ":", "1:", ":15", "1:75", "1:60:00", "1:2:3:4", "-1:15", "1:-5", "1.5:00", "1:1e1",
        "one", "75 s", "1:15.", "1:+5", "1: 5", "99999999999:00"}) {
    const auto parsed = parse_time(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message,
              "wanted a time as 75 (seconds), 1:15 or 0:01:15.5, found '" + text + "'");
  }
}

// An option that takes a time has no other placeholder for it.
TEST(Times, AreTakenByEveryOptionOfSeconds) {
  for (const Verb& verb : all_verbs()) {
    const auto described = describe(verb);
    for (Field& field : described->fields.all()) {
      EXPECT_NE(field.value, "S") << verb.name << " --" << field.name;
      const bool has_units = field.name == "keep-alive" || field.name == "keep-results";
      if (field.value == "TIME" && !has_units) {
        EXPECT_TRUE(field.set("0:01:15.5")) << verb.name << " --" << field.name;
        EXPECT_EQ(field.print(), "75.5");
      }
    }
  }
}

}  // namespace
}  // namespace mynah::cli
