// How families of language models write calls and thoughts: rows of data (formats.tsv), and which
// of them a chat template is for (templates.tsv).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mynah {

enum class CallShape {
  Json,     // {"name": "f", "arguments": {..}}, alone, in a list, or several
  Keyed,    // {"f": {..}}
  Named,    // f SEPARATOR {..}
  Tagged,   // a tag a parameter
  Python,   // [f(a=1)]
  Llama,    // Json, f.call(a=1), or code
  Gemma,    // call:f{a:1}
  Harmony,  // channels, for the whole of the reply
};

// Lists are alternatives. All markers are as in the text that a tokenizer reads.
struct CallFormat {
  std::string name;
  CallShape shape = CallShape::Json;
  std::vector<std::string> section_begin;  // around all calls
  std::vector<std::string> section_end;
  std::vector<std::string> begin;  // around one call
  std::vector<std::string> end;
  std::vector<std::string> separator;     // Named: behind the name; Gemma: what quotes a string
  std::vector<std::string> id_separator;  // Named: between the name and an id
  // Tagged: each may be empty where the format has none.
  std::string function_begin, name_end, parameter_begin, parameter_name_end, value_begin,
      parameter_end, function_end;
  // How a model is to write calls (call_grammar.h): before the first; one of them with %n for the
  // name, %a for the arguments and %i for a number (Tagged: what stands between tags); between two;
  // behind the last.
  std::string written_open, written_call, written_between, written_close;
  bool bare = false;    // a JSON object at the content's beginning is a call, where there are tools
  bool cdata = false;   // Tagged: a text may stand between <![CDATA[ and ]]>
  bool fenced = false;  // `begin` is a fence of Markdown: a call only where there are tools
};

struct ThoughtFormat {
  std::string name;
  std::string begin;
  std::string end;
  std::vector<std::string> dropped;  // markers around content
};

struct ReplyFormat {
  CallFormat calls;
  ThoughtFormat thoughts;
};

// All rows.
[[nodiscard]] const std::vector<CallFormat>& call_formats();
[[nodiscard]] const std::vector<ThoughtFormat>& thought_formats();

// The rows of these names, which exist: a name from outside is looked for in the lists above.
[[nodiscard]] ReplyFormat reply_format(std::string_view calls, std::string_view thoughts);

// What a model with this chat template (its Jinja source) writes. It is told by what stands in the
// source: rendering a call would show it too, but many templates refuse to (one call alone, ids of
// nine characters, a tool's result that must follow), some render no call of an assistant at all,
// and the source is there before there is anything to render. A template of no known family: JSON
// for calls, <think> for thoughts.
[[nodiscard]] ReplyFormat reply_format_of_template(std::string_view source);

}  // namespace mynah
