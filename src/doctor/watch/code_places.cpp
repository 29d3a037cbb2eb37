#include "doctor/watch/code_places.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace mynah::doctor {

namespace {

constexpr std::string_view kMadeAtRunTime = "code made at run time";

// The hexadecimal number at the beginning of the text, which is taken away.
std::optional<uint64_t> take_number(std::string_view& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// "7f00-7f10 r-xp 00001000 08:01 1234       /usr/lib/libc.so.6".
std::optional<Mapping> parse_line(std::string_view line) {
  Mapping mapping;
  const auto begin = take_number(line);
  if (!begin || !line.starts_with('-')) {
    return std::nullopt;
  }
  line.remove_prefix(1);
  const auto end = take_number(line);
  constexpr size_t kRights = 6;  // " r-xp "
  if (!end || *end <= *begin || line.size() < kRights || line.front() != ' ') {
    return std::nullopt;
  }
  mapping.begin = *begin;
  mapping.end = *end;
  mapping.code = line[3] == 'x';
  line.remove_prefix(kRights);
  mapping.offset = take_number(line).value_or(0);
  // The device and the node come before the path, in which there may be blanks.
  for (int i = 0; i < 2; ++i) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    line.remove_prefix(std::min(line.find(' '), line.size()));
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.path = line;
  return mapping;
}

}  // namespace

std::vector<Mapping> parse_maps(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (auto mapping = parse_line(text.substr(0, end))) {
      mappings.push_back(*std::move(mapping));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return mappings;
}

std::string place_words(const CodePlace& place) {
  if (place.library.empty()) {
    return "a place that is not known";
  }
  const bool is_path = place.library.starts_with('/');
  const std::string library =
      is_path ? std::filesystem::path(place.library).filename().string() : place.library;
  if (place.symbol.empty()) {
    return is_path ? fmt::format("{}, at byte {:#x}", library, place.offset) : library;
  }
  return place.inside
             ? fmt::format("{}, in {}", library, place.symbol)
             : fmt::format("{}, {:#x} bytes behind {}", library, place.offset, place.symbol);
}

CodePlaces::CodePlaces(std::vector<Mapping> mappings) : mappings_(std::move(mappings)) {
  std::ranges::sort(mappings_, {}, &Mapping::begin);
}

const Mapping* CodePlaces::mapping(uint64_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::begin);
  if (after == mappings_.begin() || address >= std::prev(after)->end) {
    return nullptr;
  }
  return &*std::prev(after);
}

bool CodePlaces::is_code(uint64_t address) const {
  const Mapping* found = mapping(address);
  return found != nullptr && found->code;
}

CodePlace CodePlaces::at(uint64_t address) {
  const Mapping* found = mapping(address);
  if (found == nullptr) {
    return {};
  }
  CodePlace place;
  if (!found->path.starts_with('/')) {
    place.library = found->path.empty() ? std::string(kMadeAtRunTime) : found->path;
    return place;
  }
  place.library = found->path;
  const uint64_t offset = address - found->begin + found->offset;
  place.offset = offset;
  auto entry = files_.find(found->path);
  if (entry == files_.end()) {
    std::optional<ElfFile> elf;
    if (auto file = MappedFile::open(found->path)) {
      if (auto parsed = ElfFile::parse(*std::move(file))) {
        elf = *std::move(parsed);
      }
    }
    entry = files_.emplace(found->path, std::move(elf)).first;
  }
  if (!entry->second) {
    return place;
  }
  const ElfFile& elf = *entry->second;
  for (const ElfSegment& segment : elf.segments) {
    const auto begin = static_cast<uint64_t>(segment.bytes.data() - elf.bytes().data());
    if (segment.bytes.empty() || offset < begin || offset - begin >= segment.bytes.size()) {
      continue;
    }
    const uint64_t virtual_address = segment.address + (offset - begin);
    if (const auto function = elf.function_at(virtual_address)) {
      place.symbol = function->name;
      place.offset = virtual_address - function->address;
      place.inside = function->inside;
    }
    break;
  }
  return place;
}

}  // namespace mynah::doctor
