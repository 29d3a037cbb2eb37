#include "doctor/recipes/dockerfile.h"

#include <algorithm>
#include <optional>

#include "doctor/characters.h"
#include "doctor/recipes/install_commands.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/requirement_text.h"
#include "formats/text_tree.h"

namespace mynah::doctor {

namespace {

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  [[nodiscard]] uint64_t number() const { return number_; }

  [[nodiscard]] size_t left() const { return rest_.size(); }

  std::string_view next() {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  }

 private:
  std::string_view rest_;
  uint64_t number_ = 0;
};

bool is_comment(std::string_view line) {
  return trimmed(line).starts_with('#');
}

// "# escape=`" among the directives at the top.
char escape_of(std::string_view text) {
  Lines lines(text);
  while (!lines.at_end()) {
    std::string_view line = trimmed(lines.next());
    if (!line.starts_with('#')) {
      break;
    }
    line = trimmed(line.substr(1));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      break;
    }
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (small_letters(trimmed(line.substr(0, equals))) == "escape" && value == "`") {
      return '`';
    }
  }
  return '\\';
}

// Words that end here-documents which a line begins: <<EOF, <<-EOF, <<"EOF".
struct Heredoc {
  std::string end;
  bool tabs = false;  // <<-: tabs before the end do not count
};

std::vector<Heredoc> heredocs_of(std::string_view line) {
  constexpr size_t kMostDocuments = 20;
  std::vector<Heredoc> found;
  for (size_t i = line.find("<<"); i != std::string_view::npos && found.size() < kMostDocuments;
       i = line.find("<<", i + 2)) {
    std::string_view word = line.substr(i + 2);
    Heredoc document;
    if (word.starts_with('<')) {
      break;  // "<<<" gives a word to a command
    }
    if (word.starts_with('-')) {
      document.tabs = true;
      word.remove_prefix(1);
    }
    if (word.starts_with('"') || word.starts_with('\'')) {
      document.end = std::string(word.substr(1, word.find(word.front(), 1) - 1));
    } else {
      document.end = std::string(word.substr(0, word.find_first_of(" \t;&|<>")));
    }
    const bool is_word = std::ranges::all_of(document.end, [](char c) {
      return is_digit(c) || is_small_letter(small_letter(c)) || c == '_' || c == '-' || c == '.';
    });
    if (!document.end.empty() && is_word) {
      found.push_back(std::move(document));
    }
  }
  return found;
}

std::string document(Lines& lines, const Heredoc& heredoc) {
  std::string text;
  while (!lines.at_end()) {
    std::string_view line = lines.next();
    std::string_view word = line;
    while (heredoc.tabs && word.starts_with('\t')) {
      word.remove_prefix(1);
    }
    if (word == heredoc.end) {
      break;
    }
    text += line;
    text += '\n';
  }
  return text;
}

// A line and those that it goes on in. Comments and empty lines between them are left out.
std::string logical_line(Lines& lines, std::string_view first, char escape) {
  std::string logical;
  std::string_view line = first;
  while (true) {
    std::string_view end = line;
    while (!end.empty() && (end.back() == ' ' || end.back() == '\t')) {
      end.remove_suffix(1);
    }
    if (end.empty() || end.back() != escape) {
      logical += line;
      return logical;
    }
    logical += end.substr(0, end.size() - 1);
    do {
      if (lines.at_end()) {
        return logical;
      }
      line = lines.next();
    } while (is_comment(line) || trimmed(line).empty());
  }
}

}  // namespace

std::vector<DockerInstruction> docker_instructions(std::string_view text) {
  std::vector<DockerInstruction> instructions;
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  text.remove_prefix(text.starts_with(kMark) ? kMark.size() : 0);
  const char escape = escape_of(text);
  Lines lines(text);
  while (!lines.at_end()) {
    const std::string_view from_here = text.substr(text.size() - lines.left());
    const std::string_view first = lines.next();
    if (is_comment(first) || trimmed(first).empty()) {
      continue;
    }
    DockerInstruction instruction;
    instruction.line = lines.number();
    const std::string whole = logical_line(lines, first, escape);
    std::string_view rest = trimmed(whole);
    const auto word = [&rest] {
      const std::string_view taken = rest.substr(0, rest.find_first_of(" \t"));
      rest = trimmed(rest.substr(taken.size()));
      return taken;
    };
    instruction.keyword = small_letters(word());
    std::ranges::transform(instruction.keyword, instruction.keyword.begin(), [](char c) {
      return is_small_letter(c) ? static_cast<char>(c - 'a' + 'A') : c;
    });
    while (rest.starts_with("--")) {
      instruction.flags.emplace_back(word());
    }
    instruction.arguments = std::string(rest);
    const bool takes_documents = instruction.keyword == "RUN" || instruction.keyword == "COPY" ||
                                 instruction.keyword == "ADD";
    if (takes_documents) {
      for (const Heredoc& heredoc : heredocs_of(rest)) {
        instruction.documents.push_back(document(lines, heredoc));
      }
    }
    instruction.source = from_here.substr(0, from_here.size() - lines.left());
    instructions.push_back(std::move(instruction));
  }
  return instructions;
}

BaseImage docker_image(std::string_view name) {
  BaseImage image;
  name = name.substr(0, name.find('@'));
  // A port of a registry stands before a slash, a tag behind the last one.
  const size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && name.find('/', colon) == std::string_view::npos) {
    image.tag = std::string(name.substr(colon + 1));
    name = name.substr(0, colon);
  }
  // Docker's own registry, and its folder of official images, go without saying.
  for (const std::string_view prefix : {"index.docker.io/", "docker.io/", "library/"}) {
    name.remove_prefix(name.starts_with(prefix) ? prefix.size() : 0);
  }
  image.image = std::string(name);
  return image;
}

DockerMount docker_mount(std::string_view flag) {
  DockerMount mount;
  flag.remove_prefix(std::min(flag.find('=') + 1, flag.size()));
  while (!flag.empty()) {
    const std::string_view part = flag.substr(0, flag.find(','));
    flag.remove_prefix(std::min(part.size() + 1, flag.size()));
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view key = part.substr(0, equals);
    const std::string value(part.substr(std::min(equals + 1, part.size())));
    if (key == "source" || key == "src") {
      mount.source = value;
    } else if (key == "target" || key == "dst" || key == "destination") {
      mount.target = value;
    } else if (key == "from") {
      mount.from = value;
    } else if (key == "type") {
      mount.type = value;
    }
  }
  return mount;
}

std::vector<std::string> docker_words(const std::string& text, const std::string& file) {
  if (text.starts_with('[')) {
    if (const auto list = parse_yaml(text, file); list && list->is_list()) {
      std::vector<std::string> words;
      for (const TextTree::Member& member : list->members) {
        words.push_back(member.value.text);
      }
      return words;
    }
  }
  return words_of(text);
}

bool holds_word(std::string_view line, std::string_view word) {
  constexpr std::string_view kBefore = " \t\"'=";
  constexpr std::string_view kBehind = " \t\"'\\;&\r";
  for (size_t at = line.find(word); !word.empty() && at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || kBefore.contains(line[at - 1])) &&
        (end == line.size() || kBehind.contains(line[end]))) {
      return true;
    }
  }
  return false;
}

void find_lines(const DockerInstruction& read, std::span<Requirement> requirements) {
  constexpr size_t kMostLines = 200;
  std::vector<std::string_view> lines;
  for (std::string_view left = read.source; !left.empty() && lines.size() < kMostLines;) {
    lines.push_back(left.substr(0, left.find('\n')));
    left.remove_prefix(std::min(lines.back().size() + 1, left.size()));
  }
  const auto line_of = [&](std::string_view text) -> uint64_t {
    const auto found =
        std::ranges::find_if(lines, [&](std::string_view line) { return holds_word(line, text); });
    return found == lines.end() ? 0 : read.line + static_cast<uint64_t>(found - lines.begin());
  };
  for (Requirement& requirement : requirements) {
    Requirement bare = requirement;
    bare.marker.clear();
    const uint64_t line = line_of(requirement_text(bare));
    requirement.literal = line != 0;
    requirement.line = line != 0 ? line : requirement.line;
    requirement.command = requirement.line != read.line ? read.line : 0;
    for (const std::string& index : requirement.indexes) {
      requirement.index_lines.push_back(line_of(index));
    }
  }
}

bool runs_documents(std::string_view arguments) {
  const std::vector<std::string> words = words_of(arguments);
  return !words.empty() && (words[0].starts_with("<<") || is_shell(words[0]));
}

}  // namespace mynah::doctor
