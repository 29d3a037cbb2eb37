#include "chat/reply_cases.h"

#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test_paths.h"

namespace mynah::test {
namespace {

std::vector<nlohmann::json> read_lines(const std::string& name) {
  std::ifstream file(source_path("tests/chat/" + name));
  EXPECT_TRUE(file.is_open()) << name;
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

// Puts a delta behind what was told.
void add_delta(ReplyMessage& told, const ReplyDelta& delta) {
  told.content += delta.content;
  told.reasoning += delta.reasoning;
  for (const CallDelta& call : delta.calls) {
    if (call.index == told.calls.size()) {
      told.calls.push_back({.id = call.id, .name = call.name, .arguments = {}});
    } else {
      EXPECT_LT(call.index, told.calls.size());
      EXPECT_EQ(call.name + call.id, "") << "told twice";
    }
    told.calls[call.index].arguments += call.arguments;
  }
}

}  // namespace

std::vector<ReplyCase> reply_cases() {
  std::map<std::string, std::string> schemas;
  for (const nlohmann::json& tool : read_lines("reply_tools.jsonl")) {
    schemas[tool["name"]] = tool["parameters"].dump();
  }
  std::vector<ReplyCase> cases;
  for (const nlohmann::json& line : read_lines("reply_cases.jsonl")) {
    ReplyCase& one = cases.emplace_back();
    one.line = static_cast<int>(cases.size());
    one.calls = line["calls"];
    one.thoughts = line["thoughts"];
    one.text = line["text"];
    one.options.prompt_end = line.value("prompt", "");
    for (const nlohmann::json& name : line.value("tools", nlohmann::json::array())) {
      one.options.tools.push_back({.name = name, .parameters = schemas.at(name)});
    }
    one.expected.content = line.value("content", "");
    one.expected.reasoning = line.value("reasoning", "");
    for (const nlohmann::json& call : line.value("tool_calls", nlohmann::json::array())) {
      one.expected.calls.push_back({.id = call.value("id", ""),
                                    .name = call["name"],
                                    .arguments = call["arguments"],
                                    .valid = call.value("valid", true)});
    }
  }
  return cases;
}

std::vector<std::string> markers_of(const ReplyFormat& format) {
  const CallFormat& calls = format.calls;
  std::vector<std::string> all = {calls.function_begin,  calls.parameter_begin,
                                  calls.value_begin,     calls.parameter_end,
                                  calls.function_end,    calls.parameter_name_end,
                                  format.thoughts.begin, format.thoughts.end,
                                  "<|channel|>",         "<|message|>",
                                  "<|start|>",           "<|end|>",
                                  "<|constrain|>",       "<|call|>"};
  for (const auto* const some : {&calls.section_begin, &calls.section_end, &calls.begin, &calls.end,
                                 &calls.separator, &calls.id_separator, &format.thoughts.dropped}) {
    all.insert(all.end(), some->begin(), some->end());
  }
  // What is spelled like a token; families write the rest as text.
  std::erase_if(all, [](const std::string& marker) {
    const bool angles = marker.starts_with('<') && marker.ends_with('>');
    const bool brackets = marker.starts_with('[') && marker.ends_with(']');
    return !(angles || brackets) || marker.contains(' ') || marker.contains("><");
  });
  return all;
}

std::shared_ptr<const Spellings> controls_of(const ReplyFormat& format) {
  const std::vector<std::string> markers = markers_of(format);
  return std::make_shared<Spellings>(markers.begin(), markers.end());
}

Output as_tokens(const std::string& text, const ReplyOptions& options) {
  if (options.control_markers == nullptr) {
    return {{text, false}};
  }
  Output output;
  std::string plain;
  const auto flush = [&] {
    if (!plain.empty()) {
      output.emplace_back(std::exchange(plain, {}), false);
    }
  };
  for (size_t at = 0; at < text.size();) {
    std::string longest;
    for (const std::string& marker : *options.control_markers) {
      if (marker.size() > longest.size() && text.compare(at, marker.size(), marker) == 0) {
        longest = marker;
      }
    }
    if (longest.empty()) {
      plain += text[at++];
    } else {
      flush();
      output.emplace_back(longest, true);
      at += longest.size();
    }
  }
  flush();
  return output;
}

Output cut_anywhere(const Output& output, std::mt19937_64& random) {
  Output cut;
  // Some cuts are of few bytes, others of many.
  const size_t most = size_t{1} << (random() % 6);
  for (const auto& [text, is_control] : output) {
    if (is_control) {
      cut.emplace_back(text, true);
      continue;
    }
    for (size_t at = 0; at < text.size();) {
      const size_t length = 1 + random() % most;
      cut.emplace_back(text.substr(at, length), false);
      at += length;
    }
  }
  return cut;
}

ReplyMessage parse(const ReplyFormat& format, const ReplyOptions& options, const Output& output) {
  ReplyParser parser(format, options);
  ReplyMessage told;
  for (const auto& [text, is_control] : output) {
    add_delta(told, parser.push({.text = text, .is_control = is_control}));
  }
  add_delta(told, parser.finish());
  const ReplyMessage& message = parser.message();
  EXPECT_EQ(told.content, message.content);
  EXPECT_EQ(told.reasoning, message.reasoning);
  EXPECT_EQ(told.calls.size(), message.calls.size());
  for (size_t i = 0; i < message.calls.size() && i < told.calls.size(); ++i) {
    EXPECT_EQ(told.calls[i].name, message.calls[i].name);
    EXPECT_EQ(told.calls[i].id, message.calls[i].id);
    EXPECT_EQ(told.calls[i].arguments, message.calls[i].arguments);
  }
  return message;
}

}  // namespace mynah::test
