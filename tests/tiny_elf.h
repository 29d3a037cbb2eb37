// Tiny shared objects, whose addresses are their offsets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "byte_builder.h"

namespace mynah::test {

struct TinySymbol {
  std::string name = {};
  bool defined = true;
  std::string version = {};  // of those needed or defined; empty: none
  bool weak = false;
};

// What goes into one.
struct TinyElf {
  int bits = 64;
  uint16_t machine = 62;  // x86-64
  uint8_t os_abi = 0;
  uint32_t flags = 0;
  std::vector<std::string> needed = {};
  std::optional<std::string> rpath = {};
  std::optional<std::string> runpath = {};
  std::string soname = {};
  std::string interpreter = {};
  std::vector<std::pair<std::string, std::vector<std::string>>> version_needs = {};
  std::vector<std::string> version_definitions = {};
  std::vector<TinySymbol> symbols = {};
  std::vector<std::pair<std::string, std::string>> sections = {};  // name and bytes
  bool stripped = false;                                           // of its section headers
  bool hash = false;                                               // DT_HASH
};

// Makes its bytes.
class TinyElfWriter {
 public:
  explicit TinyElfWriter(const TinyElf& elf) : elf_(elf) {}

  std::string bytes() {
    const bool wide = elf_.bits == 64;
    const size_t header_bytes = wide ? 64 : 52;
    const size_t program_bytes = wide ? 56 : 32;
    const size_t programs = elf_.interpreter.empty() ? 2 : 3;
    body_.zeros(header_bytes + programs * program_bytes).align(16);
    add_tables();
    const size_t dynamic_at = body_.align(16).size();
    for (const auto& [tag, value] : dynamic_) {
      body_.word(elf_.bits, tag).word(elf_.bits, value);
    }
    body_.zeros(2 * elf_.bits / 8);
    const size_t dynamic_bytes = body_.size() - dynamic_at;
    const size_t interpreter_at = body_.size();
    body_.text(elf_.interpreter).zeros(1);
    for (const auto& [name, content] : elf_.sections) {
      body_.align(16);
      add_section(name, 1, body_.size(), content.size());
      body_.text(content);
    }
    const size_t loaded = body_.size();
    const size_t headers_at = elf_.stripped ? 0 : add_section_headers();

    ByteBuilder head;
    head.text(
        "\x7F"
        "ELF");
    head.u8(wide ? 2 : 1).u8(1).u8(1).u8(elf_.os_abi).zeros(8);
    head.u16(3).u16(elf_.machine).u32(1).word(elf_.bits, 0).word(elf_.bits, header_bytes);
    head.word(elf_.bits, headers_at).u32(elf_.flags).u16(header_bytes);
    head.u16(program_bytes).u16(programs).u16(wide ? 64 : 40);
    head.u16(elf_.stripped ? 0 : sections_.size()).u16(elf_.stripped ? 0 : sections_.size() - 1);
    add_program(head, 1, 0, loaded);
    add_program(head, 2, dynamic_at, dynamic_bytes);
    if (!elf_.interpreter.empty()) {
      add_program(head, 3, interpreter_at, elf_.interpreter.size() + 1);
    }
    return head.bytes() + body_.bytes().substr(head.size());
  }

 private:
  struct Section {
    std::string name;
    uint32_t type;
    size_t offset;
    size_t size;
  };

  // The offset of a name in the dynamic string table.
  size_t name(const std::string& text) {
    const size_t at = strings_.size();
    strings_.text(text).zeros(1);
    return at;
  }

  void add_section(const std::string& section, uint32_t type, size_t offset, size_t size) {
    sections_.push_back({section, type, offset, size});
  }

  void add_program(ByteBuilder& head, uint32_t type, size_t offset, size_t size) const {
    head.u32(type);
    if (elf_.bits == 64) {
      head.u32(4);
    }
    head.word(elf_.bits, offset).word(elf_.bits, offset).word(elf_.bits, offset);
    head.word(elf_.bits, size).word(elf_.bits, size);
    if (elf_.bits == 32) {
      head.u32(4);
    }
    head.word(elf_.bits, 8);
  }

  // 0 for none.
  size_t version_index(const std::string& version) const {
    size_t index = 2;
    for (const auto& [file, versions] : elf_.version_needs) {
      for (const std::string& needed : versions) {
        if (needed == version) {
          return index;
        }
        ++index;
      }
    }
    for (const std::string& defined : elf_.version_definitions) {
      if (defined == version) {
        return index;
      }
      ++index;
    }
    return 0;
  }

  void add_tables() {
    strings_.zeros(1);
    for (const std::string& library : elf_.needed) {
      dynamic_.emplace_back(1, name(library));
    }
    if (elf_.rpath) {
      dynamic_.emplace_back(15, name(*elf_.rpath));
    }
    if (elf_.runpath) {
      dynamic_.emplace_back(29, name(*elf_.runpath));
    }
    if (!elf_.soname.empty()) {
      dynamic_.emplace_back(14, name(elf_.soname));
    }
    add_versions();
    add_symbols();
    body_.align(16);
    dynamic_.emplace_back(5, body_.size());
    dynamic_.emplace_back(10, strings_.size());
    add_section(".dynstr", 3, body_.size(), strings_.size());
    body_.text(strings_.bytes());
  }

  void add_versions() {
    size_t index = 2;
    if (!elf_.version_needs.empty()) {
      dynamic_.emplace_back(0x6FFFFFFE, body_.size());
      dynamic_.emplace_back(0x6FFFFFFF, elf_.version_needs.size());
    }
    for (const auto& need : elf_.version_needs) {
      const size_t count = need.second.size();
      const bool last = &need == &elf_.version_needs.back();
      body_.u16(1).u16(count).u32(name(need.first)).u32(16).u32(last ? 0 : 16 + 16 * count);
      for (const std::string& version : need.second) {
        const bool last_version = &version == &need.second.back();
        body_.u32(0).u16(0).u16(index++).u32(name(version)).u32(last_version ? 0 : 16);
      }
    }
    if (elf_.version_definitions.empty()) {
      return;
    }
    dynamic_.emplace_back(0x6FFFFFFC, body_.size());
    dynamic_.emplace_back(0x6FFFFFFD, elf_.version_definitions.size() + 1);
    body_.u16(1).u16(1).u16(1).u16(1).u32(0).u32(20).u32(28).u32(name(elf_.soname)).u32(0);
    for (const std::string& version : elf_.version_definitions) {
      const bool last = &version == &elf_.version_definitions.back();
      body_.u16(1).u16(0).u16(index++).u16(1).u32(0).u32(20).u32(last ? 0 : 28);
      body_.u32(name(version)).u32(0);
    }
  }

  void add_symbols() {
    if (elf_.symbols.empty()) {
      return;
    }
    const size_t each = elf_.bits == 64 ? 24 : 16;
    body_.align(16);
    dynamic_.emplace_back(6, body_.size());
    add_section(".dynsym", 11, body_.size(), each * (elf_.symbols.size() + 1));
    body_.zeros(each);
    for (const TinySymbol& symbol : elf_.symbols) {
      const int info = symbol.weak ? 0x20 : 0x10;
      body_.u32(name(symbol.name));
      if (elf_.bits == 64) {
        body_.u8(info).u8(0).u16(symbol.defined ? 1 : 0).u64(0).u64(0);
      } else {
        body_.u32(0).u32(0).u8(info).u8(0).u16(symbol.defined ? 1 : 0);
      }
    }
    dynamic_.emplace_back(0x6FFFFFF0, body_.size());
    body_.u16(0);
    for (const TinySymbol& symbol : elf_.symbols) {
      body_.u16(version_index(symbol.version));
    }
    body_.align(16);
    if (elf_.hash) {
      dynamic_.emplace_back(4, body_.size());
      body_.u32(1).u32(elf_.symbols.size() + 1).zeros(4 * (elf_.symbols.size() + 2)).align(16);
    }
  }

  size_t add_section_headers() {
    ByteBuilder names;
    names.zeros(1);
    add_section(".shstrtab", 3, 0, 0);
    std::vector<size_t> name_at;
    for (const Section& section : sections_) {
      name_at.push_back(names.size());
      names.text(section.name).zeros(1);
    }
    sections_.back().offset = body_.align(16).size();
    sections_.back().size = names.size();
    body_.text(names.bytes()).align(16);
    const size_t at = body_.size();
    sections_.insert(sections_.begin(), {"", 0, 0, 0});
    name_at.insert(name_at.begin(), 0);
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Section& section = sections_[i];
      body_.u32(name_at[i]).u32(section.type).word(elf_.bits, 2).word(elf_.bits, section.offset);
      body_.word(elf_.bits, section.offset).word(elf_.bits, section.size).u32(0).u32(0);
      body_.word(elf_.bits, 1).word(elf_.bits, 0);
    }
    return at;
  }

  const TinyElf& elf_;
  ByteBuilder body_;
  ByteBuilder strings_;
  std::vector<std::pair<uint64_t, uint64_t>> dynamic_;
  std::vector<Section> sections_;
};

inline std::string elf_bytes(const TinyElf& elf) {
  return TinyElfWriter(elf).bytes();
}

}  // namespace mynah::test
