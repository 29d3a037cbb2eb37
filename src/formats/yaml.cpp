#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <yaml.h>

#include "formats/byte_reader.h"
#include "formats/text_tree.h"

namespace mynah {

namespace {

// Copies of anchored nodes may be so many for each byte of the input, and so many at the least:
// real files repeat a block of ten lines in some twenty services.
constexpr size_t kCopiesAByte = 4;
constexpr size_t kLeastCopies = 10'000;

struct ParserDeleter {
  void operator()(yaml_parser_t* parser) const {
    yaml_parser_delete(parser);
    delete parser;
  }
};

struct EventDeleter {
  void operator()(yaml_event_t* event) const {
    yaml_event_delete(event);
    delete event;
  }
};

using Event = std::unique_ptr<yaml_event_t, EventDeleter>;

std::string text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text));
}

struct Size {
  size_t weight = 1;  // nodes, and one more for every 64 bytes of text
  int height = 0;     // levels below the first
};

Size size_of(const TextTree& tree) {
  Size size{.weight = 1 + tree.text.size() / 64};
  for (const TextTree::Member& member : tree.members) {
    const Size below = size_of(member.value);
    size.weight += below.weight + member.name.size() / 64;
    size.height = std::max(size.height, below.height + 1);
  }
  return size;
}

class YamlReader {
 public:
  YamlReader(std::string_view text, const std::string& file)
      : file_(file), copies_left_(std::max(text.size() * kCopiesAByte, kLeastCopies)) {
    auto parser = std::make_unique<yaml_parser_t>();
    if (yaml_parser_initialize(parser.get()) == 1) {
      parser_.reset(parser.release());
      // An empty view has no address, which libyaml does not take.
      const char* const bytes = text.empty() ? "" : text.data();
      yaml_parser_set_input_string(parser_.get(), reinterpret_cast<const unsigned char*>(bytes),
                                   text.size());
    }
  }

  Result<TextTree> read() {
    if (!parser_) {
      return fail(ErrorCode::OutOfMemory, fmt::format("{}: libyaml has no memory", file_));
    }
    while (true) {
      MYNAH_TRY(const Event event, next());
      switch (event->type) {
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_START_EVENT:
          break;
        case YAML_STREAM_END_EVENT:
          return TextTree{};
        default:
          return node(*event, 0);
      }
    }
  }

 private:
  std::unexpected<Error> refused(uint64_t line, const std::string& why) const {
    return fail(ErrorCode::InvalidInput, fmt::format("{}:{}: {}", file_, line, why));
  }

  Result<Event> next() {
    Event event(new yaml_event_t());
    if (yaml_parser_parse(parser_.get(), event.get()) != 1) {
      return refused(parser_->problem_mark.line + 1,
                     fmt::format("wanted YAML: {}",
                                 parser_->problem == nullptr ? "no memory" : parser_->problem));
    }
    return event;
  }

  Result<TextTree> node(const yaml_event_t& event, int depth) {
    const uint64_t line = event.start_mark.line + 1;
    MYNAH_TRY_STATUS(check_depth(depth, line));
    TextTree tree;
    std::string anchor;
    switch (event.type) {
      case YAML_ALIAS_EVENT:
        return copy_of(text_of(event.data.alias.anchor), depth, line);
      case YAML_SCALAR_EVENT:
        anchor = text_of(event.data.scalar.anchor);
        tree = scalar(event);
        break;
      case YAML_SEQUENCE_START_EVENT: {
        anchor = text_of(event.data.sequence_start.anchor);
        MYNAH_TRY(tree, list(depth));
        break;
      }
      case YAML_MAPPING_START_EVENT: {
        anchor = text_of(event.data.mapping_start.anchor);
        MYNAH_TRY(tree, table(depth));
        break;
      }
      default:
        return refused(line, "wanted a value");
    }
    tree.line = line;
    if (!anchor.empty()) {
      MYNAH_TRY_STATUS(pay(size_of(tree).weight, line));
      anchors_.insert_or_assign(anchor, tree);
    }
    return tree;
  }

  static TextTree scalar(const yaml_event_t& event) {
    const auto& read = event.data.scalar;
    TextTree tree;
    tree.text.assign(reinterpret_cast<const char*>(read.value), read.length);
    tree.quoted = read.style != YAML_PLAIN_SCALAR_STYLE;
    const bool nothing =
        !tree.quoted && (tree.text.empty() || tree.text == "~" || tree.text == "null" ||
                         tree.text == "Null" || tree.text == "NULL");
    tree.kind = nothing ? TextTree::Kind::Nothing : TextTree::Kind::Text;
    if (nothing) {
      tree.text.clear();
    }
    return tree;
  }

  Result<TextTree> list(int depth) {
    TextTree tree;
    tree.kind = TextTree::Kind::List;
    while (true) {
      MYNAH_TRY(const Event event, next());
      if (event->type == YAML_SEQUENCE_END_EVENT) {
        return tree;
      }
      MYNAH_TRY(TextTree value, node(*event, depth + 1));
      tree.members.push_back({.name = {}, .value = std::move(value)});
    }
  }

  Result<TextTree> table(int depth) {
    TextTree tree;
    tree.kind = TextTree::Kind::Table;
    std::vector<TextTree> merged;
    while (true) {
      MYNAH_TRY(const Event event, next());
      if (event->type == YAML_MAPPING_END_EVENT) {
        break;
      }
      MYNAH_TRY(TextTree key, node(*event, depth + 1));
      MYNAH_TRY(const Event value_event, next());
      MYNAH_TRY(TextTree value, node(*value_event, depth + 1));
      value.line = event->start_mark.line + 1;  // where its name stands
      if (key.is_list() || key.is_table()) {
        return refused(event->start_mark.line + 1, "wanted a text as key");
      }
      if (key.text == "<<" && !key.quoted) {
        merged.push_back(std::move(value));
      } else {
        tree.members.push_back({.name = std::move(key.text), .value = std::move(value)});
      }
    }
    if (!merged.empty()) {
      std::set<std::string> names;
      for (const TextTree::Member& member : tree.members) {
        names.insert(member.name);
      }
      for (const TextTree& from : merged) {
        merge(from, names, tree);
      }
    }
    return tree;
  }

  // What a merge key names comes behind the table's own members, which win; of a list the first.
  static void merge(const TextTree& from, std::set<std::string>& names, TextTree& tree) {
    if (from.is_list()) {
      for (const TextTree::Member& member : from.members) {
        if (member.value.is_table()) {
          merge(member.value, names, tree);
        }
      }
    } else if (from.is_table()) {
      for (const TextTree::Member& member : from.members) {
        if (names.insert(member.name).second) {
          tree.members.push_back(member);
        }
      }
    }
  }

  Result<TextTree> copy_of(const std::string& anchor, int depth, uint64_t line) {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      return refused(line, fmt::format("no node above is called {}", in_quotes(anchor)));
    }
    const Size size = size_of(found->second);
    MYNAH_TRY_STATUS(check_depth(depth + size.height, line));
    MYNAH_TRY_STATUS(pay(size.weight, line));
    return found->second;
  }

  Status check_depth(int depth, uint64_t line) const {
    return depth > kMostTextTreeDepth
               ? Status(refused(
                     line, fmt::format("wanted at most {} levels, found more", kMostTextTreeDepth)))
               : Status();
  }

  Status pay(size_t weight, uint64_t line) {
    if (weight > copies_left_) {
      return refused(line, "wanted fewer copies of other nodes: they grow without end");
    }
    copies_left_ -= weight;
    return {};
  }

  std::string file_;
  std::unique_ptr<yaml_parser_t, ParserDeleter> parser_;
  std::map<std::string, TextTree, std::less<>> anchors_;
  size_t copies_left_;
};

}  // namespace

Result<TextTree> parse_yaml(std::string_view text, const std::string& file) {
  return YamlReader(text, file).read();
}

}  // namespace mynah
