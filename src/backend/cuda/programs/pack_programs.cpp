// pack_programs OUTPUT FILE...: compresses PTX files, named GROUP.smLEVEL.ptx, into one blob, and
// leaves out those whose instructions are the same as a lower level's. Runs while mynah is built.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

#include "backend/cuda/programs/blob.h"

namespace {

namespace fs = std::filesystem;

using mynah::cuda::BlobEntry;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "pack_programs: %s\n", why.c_str());
  std::exit(1);
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || text.empty()) {
    stop("cannot read " + path.string());
  }
  return text;
}

// What the compiler remarks is of no use to a driver, and half of the text.
std::string without_comments(const std::string& text) {
  std::string result;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    line.erase(std::min(line.find("//"), line.size()));
    line.erase(line.find_last_not_of(" \t") + 1);
    if (!line.empty()) {
      result += line + "\n";
    }
    begin = end + 1;
  }
  return result;
}

BlobEntry entry_named(const fs::path& path) {
  const std::string stem = path.stem().string();  // GROUP.smLEVEL
  const size_t dot = stem.find(".sm");
  BlobEntry entry{};
  if (dot == std::string::npos || dot >= sizeof(entry.group)) {
    stop("wanted a file named GROUP.smLEVEL.ptx, found " + path.string());
  }
  std::memcpy(entry.group, stem.data(), dot);
  entry.level = static_cast<uint32_t>(std::stoul(stem.substr(dot + 3)));
  return entry;
}

// The text but for the lines that say what it is for.
std::string instructions_of(const std::string& text) {
  std::string result;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (!line.starts_with(".version") && !line.starts_with(".target")) {
      result += line;
    }
    begin = end;
  }
  return result;
}

struct Source {
  BlobEntry entry{};
  std::string text;
};

// Sources by group, then level.
std::vector<Source> read_sources(std::span<char*> paths) {
  std::vector<Source> sources;
  for (const char* path : paths) {
    sources.push_back({entry_named(path), without_comments(read_file(path))});
  }
  std::ranges::sort(sources, {}, [](const Source& source) {
    return std::pair(std::string(source.entry.group), source.entry.level);
  });
  return sources;
}

std::vector<unsigned char> compressed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::vector<unsigned char> bytes(size);
  if (compress2(bytes.data(), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(),
                Z_BEST_COMPRESSION) != Z_OK) {
    stop("cannot compress");
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    stop("usage: pack_programs OUTPUT FILE...");
  }
  std::vector<BlobEntry> entries;
  std::vector<std::vector<unsigned char>> packed;
  std::set<std::pair<std::string, std::string>> known;  // groups and their instructions
  for (Source& source : read_sources(std::span(argv + 2, argv + argc))) {
    if (known.emplace(source.entry.group, instructions_of(source.text)).second) {
      packed.push_back(compressed(source.text));
      source.entry.text_bytes = static_cast<uint32_t>(source.text.size());
      source.entry.packed_bytes = packed.back().size();
      entries.push_back(source.entry);
    }
  }
  uint64_t offset = sizeof(uint64_t) + entries.size() * sizeof(BlobEntry);
  for (BlobEntry& entry : entries) {
    entry.offset = offset;
    offset += entry.packed_bytes;
  }
  std::ofstream blob(argv[1], std::ios::binary);
  const uint64_t count = entries.size();
  blob.write(reinterpret_cast<const char*>(&count), sizeof(count));
  blob.write(reinterpret_cast<const char*>(entries.data()),
             static_cast<std::streamsize>(entries.size() * sizeof(BlobEntry)));
  for (const auto& bytes : packed) {
    blob.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  if (!blob.flush()) {
    stop(std::string("cannot write ") + argv[1]);
  }
}
