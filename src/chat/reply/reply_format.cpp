#include "chat/reply/reply_format.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/embedded_file.h"
#include "base/tsv_lines.h"

MYNAH_EMBEDDED_FILE(reply_formats, MYNAH_REPLY_FOLDER "/formats.tsv")
MYNAH_EMBEDDED_FILE(reply_templates, MYNAH_REPLY_FOLDER "/templates.tsv")

namespace mynah {
namespace {

constexpr auto kShapes =
    std::to_array<std::pair<std::string_view, CallShape>>({{"json", CallShape::Json},
                                                           {"keyed", CallShape::Keyed},
                                                           {"named", CallShape::Named},
                                                           {"tagged", CallShape::Tagged},
                                                           {"python", CallShape::Python},
                                                           {"llama", CallShape::Llama},
                                                           {"gemma", CallShape::Gemma},
                                                           {"harmony", CallShape::Harmony}});

std::string unescaped_marker(std::string_view text) {
  std::string marker;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      marker += text[i] == 'n' ? '\n' : ' ';
    } else {
      marker += text[i];
    }
  }
  return marker;
}

std::vector<std::string> markers_of(std::string_view cell) {
  std::vector<std::string> markers;
  while (!cell.empty() && cell != "-") {
    const size_t end = std::min(cell.find(' '), cell.size());
    markers.push_back(unescaped_marker(cell.substr(0, end)));
    cell.remove_prefix(std::min(end + 1, cell.size()));
  }
  return markers;
}

std::string marker_of(std::string_view cell) {
  return cell == "-" ? std::string() : unescaped_marker(cell);
}

template <class Row>
const Row* row_named(const std::vector<Row>& rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &Row::name);
  return row == rows.end() ? nullptr : &*row;
}

struct ReplyTables {
  std::vector<CallFormat> calls;
  std::vector<ThoughtFormat> thoughts;

  ReplyTables() {
    for_each_tsv_line<10>(reply_formats(), [this](const auto& cells) {
      if (cells[0] == "calls") {
        add_calls(cells);
      } else if (cells[0] == "tags") {
        add_tags(cells);
      } else if (cells[0] == "writes") {
        CallFormat& format = last_calls(cells[1]);
        format.written_open = marker_of(cells[2]);
        format.written_call = marker_of(cells[3]);
        format.written_between = marker_of(cells[4]);
        format.written_close = marker_of(cells[5]);
      } else {
        MYNAH_CHECK(cells[0] == "thoughts", "a row of formats.tsv is of no kind");
        thoughts.push_back({.name = std::string(cells[1]),
                            .begin = marker_of(cells[2]),
                            .end = marker_of(cells[3]),
                            .dropped = markers_of(cells[4])});
      }
    });
  }

  void add_calls(const std::array<std::string_view, 10>& cells) {
    const auto* const shape =
        std::ranges::find(kShapes, cells[2], &std::pair<std::string_view, CallShape>::first);
    MYNAH_CHECK(shape != kShapes.end(), "a row of formats.tsv has no shape");
    CallFormat& format = calls.emplace_back();
    format.name = cells[1];
    format.shape = shape->second;
    format.section_begin = markers_of(cells[3]);
    format.section_end = markers_of(cells[4]);
    format.begin = markers_of(cells[5]);
    format.end = markers_of(cells[6]);
    format.separator = markers_of(cells[7]);
    format.id_separator = markers_of(cells[8]);
    format.bare = cells[9] == "bare";
    format.fenced = cells[9] == "fenced";
    format.cdata = cells[9] == "cdata";
  }

  CallFormat& last_calls(std::string_view name) {
    MYNAH_CHECK(!calls.empty() && calls.back().name == name,
                "a row of formats.tsv does not stand behind its calls");
    return calls.back();
  }

  void add_tags(const std::array<std::string_view, 10>& cells) {
    CallFormat& format = last_calls(cells[1]);
    format.function_begin = marker_of(cells[2]);
    format.name_end = marker_of(cells[3]);
    format.parameter_begin = marker_of(cells[4]);
    format.parameter_name_end = marker_of(cells[5]);
    format.value_begin = marker_of(cells[6]);
    format.parameter_end = marker_of(cells[7]);
    format.function_end = marker_of(cells[8]);
  }
};

const ReplyTables& reply_tables() {
  static const ReplyTables tables;
  return tables;
}

}  // namespace

const std::vector<CallFormat>& call_formats() {
  return reply_tables().calls;
}

const std::vector<ThoughtFormat>& thought_formats() {
  return reply_tables().thoughts;
}

ReplyFormat reply_format(std::string_view calls, std::string_view thoughts) {
  const CallFormat* const of_calls = row_named(call_formats(), calls);
  const ThoughtFormat* const of_thoughts = row_named(thought_formats(), thoughts);
  MYNAH_CHECK(of_calls != nullptr && of_thoughts != nullptr, "a format of replies does not exist");
  return {.calls = *of_calls, .thoughts = *of_thoughts};
}

ReplyFormat reply_format_of_template(std::string_view source) {
  std::string_view calls;
  std::string_view thoughts;
  for_each_tsv_line<4>(reply_templates(), [&](const auto& cells) {
    std::string_view& chosen = cells[0] == "calls" ? calls : thoughts;
    if (chosen.empty() && source.contains(cells[2]) && source.contains(cells[3])) {
      chosen = cells[1];
    }
  });
  return reply_format(calls, thoughts);
}

}  // namespace mynah
