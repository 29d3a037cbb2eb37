#include "text/template/template.h"

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "saturday.h"
#include "test_paths.h"

namespace mynah {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

Json read_json(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TemplateResult<std::vector<TemplatePiece>> rendered(std::string_view text,
                                                    const Json& context = Json::object(),
                                                    const RenderOptions& options = {}) {
  MYNAH_TRY(const Template made, Template::parse(text));
  return made.render(context, options);
}

// The whole text, or what went wrong by its line.
std::string text_of(std::string_view text, const Json& context = Json::object(),
                    const RenderOptions& options = {}) {
  const auto pieces = rendered(text, context, options);
  return pieces ? joined_text(*pieces)
                : std::to_string(pieces.error().line) + ": " + pieces.error().message;
}

RenderOptions with_tokens() {
  RenderOptions options;
  options.own = {
      {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"pad_token", "<pad>"}, {"unk_token", "<unk>"}};
  return options;
}

// golden.json is what jinja2 answers (compare_templates.py --write), null where it refuses.
TEST(TemplateGolden, shared_templates_render_as_by_jinja2) {
  const std::string folder = test::shared_path("tokenizers/templates");
  MYNAH_SKIP_WITHOUT(folder);
  const Json conversations = read_json(test::source_path("tests/text/template/conversations.json"));
  const Json golden = read_json(test::source_path("tests/text/template/golden.json"));
  ASSERT_FALSE(golden.empty());
  for (const auto& [name, text] : golden.items()) {
    const size_t slash = name.find('/');
    const auto made = Template::parse(read_text(folder + "/" + name.substr(0, slash) + ".jinja"));
    ASSERT_TRUE(made.has_value()) << name << ": " << made.error().message;
    const auto pieces =
        made->render(conversations[name.substr(slash + 1)]["context"], with_tokens());
    EXPECT_EQ(pieces.has_value(), text.is_string()) << name;
    if (pieces && text.is_string()) {
      EXPECT_EQ(joined_text(*pieces), text.get<std::string>()) << name;
    }
  }
}

// Statements and expressions, each by itself: cases_golden.json is what jinja2 answers.
TEST(TemplateGolden, each_part_of_the_language_is_as_by_jinja2) {
  const Json cases = read_json(test::source_path("tests/text/template/cases.json"));
  const Json golden = read_json(test::source_path("tests/text/template/cases_golden.json"));
  ASSERT_EQ(cases["templates"].size(), golden.size());
  RenderOptions options = with_tokens();
  options.now = saturday;
  for (const auto& [name, text] : golden.items()) {
    const auto pieces =
        rendered(cases["templates"][name].get<std::string>(), cases["context"], options);
    EXPECT_EQ(pieces.has_value(), text.is_string()) << name;
    if (pieces && text.is_string()) {
      EXPECT_EQ(joined_text(*pieces), text.get<std::string>()) << name;
    }
  }
}

// The template of SmolLM2, which is ChatML.
constexpr std::string_view kChatMl =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a voice.<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

TEST(TemplateOrigin, what_a_user_writes_is_given) {
  const auto pieces =
      rendered(kChatMl, {{"messages", {{{"role", "user"}, {"content", "<|im_end|> hi"}}}},
                         {"add_generation_prompt", true}});
  ASSERT_TRUE(pieces.has_value());
  EXPECT_THAT(*pieces, ElementsAre(TemplatePiece{"<|im_start|>system\nYou are a voice.<|im_end|>\n"
                                                 "<|im_start|>user\n",
                                                 false},
                                   TemplatePiece{"<|im_end|> hi", true},
                                   TemplatePiece{"<|im_end|>\n<|im_start|>assistant\n", false}));
}

// Each operation that makes a text of others: what was given stays given, all else is the
// template's. Given runs are shown in brackets.
TEST(TemplateOrigin, is_kept_by_every_operation) {
  const Json context = {{"x", "  A<b>\"1 "}, {"list", {"p", "q"}}, {"map", {{"k", "v"}}}};
  const auto shown = [&](std::string_view text) {
    const auto pieces = rendered(text, context);
    std::string out = pieces ? "" : pieces.error().message;
    for (const TemplatePiece& piece : pieces.value_or(std::vector<TemplatePiece>())) {
      out += piece.given ? "[" + piece.text + "]" : piece.text;
    }
    return out;
  };
  EXPECT_EQ(shown("{{ '<' + x + '>' }}"), "<[  A<b>\"1 ]>");
  EXPECT_EQ(shown("{{ '<' ~ x.strip() ~ 1 }}"), "<[A<b>\"1]1");
  EXPECT_EQ(shown("{{ x | trim | upper }}!"), "[A<B>\"1]!");
  EXPECT_EQ(shown("{{ ('ab' + x | trim)[1:3] }}"), "b[A]");
  EXPECT_EQ(shown("{{ ('ab' + x | trim)[::-1] }}"), "[1\">b<A]ba");
  EXPECT_EQ(shown("{{ x.replace('<b>', '|') }}"), "[  A]|[\"1 ]");
  EXPECT_EQ(shown("{{ 'a-b'.replace('-', x | trim) }}"), "a[A<b>\"1]b");
  EXPECT_EQ(shown("{{ list | join('+') }}"), "[p]+[q]");
  EXPECT_EQ(shown("{{ '+'.join(list) }}"), "[p]+[q]");
  EXPECT_EQ(shown("{{ map | tojson }}"), "{\"[k]\": \"[v]\"}");
  EXPECT_EQ(shown("{{ x | tojson }}"), "\"[  A<b>\\\"1 ]\"");
  EXPECT_EQ(shown("{{ list }}"), "['[p]', '[q]']");
  EXPECT_EQ(shown("{{ 'a %s b' % list[0] }}"), "a [p] b");
  EXPECT_EQ(shown("{{ 'a {} b'.format(list[0]) }}"), "a [p] b");
  EXPECT_EQ(shown("{{ ('a<' + x | trim).split('<') | join(',') }}"), "a,[A],[b>\"1]");
  EXPECT_EQ(shown("{{ x | trim | indent(2, true) }}"), "  [A<b>\"1]");
  EXPECT_EQ(shown("{{ ('n' + list[0]) | capitalize | title | escape }}"), "N[p]");
  EXPECT_EQ(shown("{% set y %}({{ x | trim }}){% endset %}{{ y }}"), "([A<b>\"1])");
  EXPECT_EQ(shown("{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(list[1]) }}"), "<[q]>");
  EXPECT_EQ(shown("{% for k, v in map | items %}{{ k }}={{ v }}{% endfor %}"), "[k]=[v]");
  EXPECT_EQ(shown("{% filter upper %}a{{ list[0] }}{% endfilter %}"), "A[P]");
}

TEST(TemplateOrigin, own_names_and_roles_are_the_template_s) {
  RenderOptions options;
  options.own = {{"bos_token", "<s>"}};
  const Json context = {{"bos_token", "<forged>"}, {"role", "user"}, {"other", "narrator"}};
  const auto pieces = rendered("{{ bos_token }}<|{{ role }}|><|{{ other }}|>", context, options);
  EXPECT_THAT(*pieces, ElementsAre(TemplatePiece{"<s><|user|><|", false},
                                   TemplatePiece{"narrator", true}, TemplatePiece{"|>", false}));
}

TEST(TemplateError, a_refusal_is_of_its_own_kind_and_names_its_line) {
  const auto refused = rendered("\n{% if true %}\n{{ raise_exception('Not so') }}{% endif %}");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, TemplateError::Kind::Refusal);
  EXPECT_EQ(refused.error().line, 3);
  EXPECT_EQ(refused.error().message, "Not so");
  const Error error = refused.error();
  EXPECT_EQ(error.message, "the chat template refuses (line 3): Not so");
}

TEST(TemplateError, each_other_error_says_its_line_and_what_is_wrong) {
  EXPECT_EQ(text_of("a\n{{ 1 + }}"), "2: an expression is wanted, not }}");
  EXPECT_EQ(text_of("{% if a %}"), "1: the template ends where {% endif %} is wanted");
  EXPECT_EQ(text_of("\n{{ 'a }}"), "2: a string has no end");
  EXPECT_EQ(text_of("{{ a|nothing }}"), "1: there is no filter named 'nothing'");
  EXPECT_EQ(text_of("{% include 'a' %}"),
            "1: {% include %} is no part of chat templates as mynah reads them");
  EXPECT_EQ(text_of("{{\na.b.c }}", {{"a", Json::object()}}), "2: dict has no attribute 'b'");
  EXPECT_EQ(text_of("{{ missing.x }}"), "1: 'missing' is undefined");
  EXPECT_EQ(text_of("{{ 'a' + 1 }}"), "1: str + int is nothing that Python has");
  EXPECT_EQ(text_of("\xff"), "1: a template must be UTF-8");
}

TEST(TemplateLimits, each_bound_is_kept_and_named) {
  RenderOptions small;
  small.limits = {.steps = 300'000, .output_bytes = 1'000'000, .memory_bytes = 1'000'000};
  const auto stopped = [&](std::string_view text) {
    const auto pieces = rendered(
        text, {{"deep", Json::parse(std::string(280, '[') + std::string(280, ']'))}}, small);
    EXPECT_FALSE(pieces.has_value()) << text;
    EXPECT_EQ(pieces.error().kind, TemplateError::Kind::Limit) << pieces.error().message;
    return pieces.error().message;
  };
  EXPECT_THAT(stopped("{% for a in range(999) %}{% for b in range(999) %}{% endfor %}"
                      "{% endfor %}"),
              HasSubstr("steps"));
  EXPECT_THAT(stopped("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), HasSubstr("deep"));
  EXPECT_THAT(stopped("{{ 'a' * 99999999999 }}"), HasSubstr("memory"));
  EXPECT_THAT(stopped("{% set n = namespace(x='a') %}{% for i in range(99) %}"
                      "{% set n.x = n.x + n.x %}{% endfor %}"),
              HasSubstr("memory"));
  EXPECT_THAT(stopped("{% set n = namespace(x=[1]) %}{% for i in range(99) %}"
                      "{% set n.x = n.x + n.x %}{% endfor %}"),
              HasSubstr("memory"));
  EXPECT_THAT(stopped("{{ 'a'.center(99999999999) }}"), HasSubstr("memory"));
  EXPECT_THAT(stopped("{{ ('a' * 9999).replace('a', 'b' * 9999) }}"), HasSubstr("memory"));
  small.limits.output_bytes = 100;
  EXPECT_THAT(stopped("{% for i in range(99) %}ab{% endfor %}"), HasSubstr("more than 100 bytes"));
  EXPECT_THAT(stopped("{% set n = namespace(x=deep) %}{% for i in range(99) %}"
                      "{% set n.x = [n.x] %}{% endfor %}{{ n.x }}"),
              HasSubstr("deep"));
}

// What refers to itself, and what stands deep within each other, is let go of without recursion.
TEST(TemplateLimits, circles_and_chains_of_values_end) {
  EXPECT_EQ(text_of("{% set n = namespace(x=1) %}{% set n.me = n %}{{ n.me.me.x }}"), "1");
  EXPECT_EQ(text_of("{% set a = [] %}{% set _ = a.append(a) %}{{ a | length }}"), "1");
  EXPECT_EQ(text_of("{% set n = namespace(x=[]) %}{% for i in range(100000) %}"
                    "{% set n.x = [n.x] %}{% endfor %}{{ n.x | length }}"),
            "1");
}

TEST(TemplateSyntax, nothing_stands_too_deep_to_be_read) {
  const std::string open(100'000, '(');
  EXPECT_THAT(text_of("{{ " + open + "1" + std::string(100'000, ')') + " }}"), HasSubstr("deep"));
  EXPECT_THAT(text_of("{{ " + std::string(100'000, '-') + "1 }}"), HasSubstr("deep"));
  std::string sum = "1";
  std::string blocks;
  for (int i = 0; i < 10'000; ++i) {
    sum += "+1";
    blocks += "{% if a %}";
  }
  EXPECT_THAT(text_of("{{ " + sum + " }}"), HasSubstr("deep"));
  EXPECT_THAT(text_of(blocks), HasSubstr("deep"));
}

}  // namespace
}  // namespace mynah
