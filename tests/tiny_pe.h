// Tiny DLLs of one section, and more where they are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "byte_builder.h"

namespace mynah::test {

struct TinyPe {
  bool wide = true;
  uint16_t machine = 0x8664;
  bool dll = true;
  std::vector<std::string> imports = {};
  std::vector<std::string> delay_imports = {};
  bool absolute = false;  // addresses of the delayed imports
  std::string export_name = {};
  std::vector<std::pair<std::string, std::string>> sections = {};  // name and bytes
};

inline std::string pe_bytes(const TinyPe& pe) {
  constexpr uint32_t kAddress = 0x1000;
  constexpr uint32_t kBase = 0x400000;
  // The section of tables: imports, delayed ones, exports, names.
  const size_t delay_at = 20 * (pe.imports.size() + 1);
  const size_t export_at = delay_at + 32 * (pe.delay_imports.size() + 1);
  size_t name_at = export_at + 40;
  ByteBuilder tables;
  ByteBuilder names;
  const auto name = [&](const std::string& text) {
    names.text(text).zeros(1);
    const size_t at = kAddress + name_at;
    name_at += text.size() + 1;
    return at;
  };
  for (const std::string& dll : pe.imports) {
    tables.zeros(12).u32(name(dll)).u32(0);
  }
  tables.zeros(20);
  for (const std::string& dll : pe.delay_imports) {
    tables.u32(pe.absolute ? 0 : 1).u32(name(dll) + (pe.absolute ? kBase : 0)).zeros(24);
  }
  tables.zeros(32);
  tables.zeros(12).u32(pe.export_name.empty() ? 0 : name(pe.export_name)).zeros(24);

  std::vector<std::pair<std::string, std::string>> sections = pe.sections;
  sections.insert(sections.begin(), {".rdata", tables.bytes() + names.bytes()});
  ByteBuilder file;
  file.text("MZ").zeros(58).u32(64);
  file.text("PE").zeros(2).u16(pe.machine).u16(sections.size()).zeros(12);
  file.u16(pe.wide ? 240 : 224).u16(pe.dll ? 0x2022 : 0x0022);
  file.u16(pe.wide ? 0x20B : 0x10B).zeros(pe.wide ? 22 : 26).word(pe.wide ? 64 : 32, kBase);
  file.zeros(pe.wide ? 76 : 60).u32(16);
  for (uint32_t i = 0; i < 16; ++i) {
    const bool there = (i == 0 && !pe.export_name.empty()) || (i == 1 && !pe.imports.empty()) ||
                       (i == 13 && !pe.delay_imports.empty());
    const size_t at = i == 0 ? export_at : i == 1 ? 0 : delay_at;
    file.u32(there ? kAddress + at : 0).u32(there ? 20 : 0);
  }
  size_t offset = (file.size() + 40 * sections.size() + 511) / 512 * 512;
  size_t address = kAddress;
  for (auto& [section, content] : sections) {
    file.text((section + std::string(8, '\0')).substr(0, 8)).u32(content.size()).u32(address);
    file.u32(content.size()).u32(offset).zeros(12).u32(0x40000040);
    offset += (content.size() + 511) / 512 * 512;
    address += (content.size() + 0xFFF) / 0x1000 * 0x1000;
  }
  for (const auto& [section, content] : sections) {
    file.align(512).text(content);
  }
  return file.bytes();
}

}  // namespace mynah::test
