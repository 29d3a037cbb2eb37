#include "formats/fatbin.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "formats/byte_reader.h"
#include "formats/elf.h"
#include "formats/pe.h"

namespace mynah {
namespace {

using Bytes = std::span<const std::byte>;

// Header: magic, version 1, its own size 16, the size of what follows.
constexpr uint64_t kHeaderWord = 0x00100001BA55ED50;  // the first 8 bytes
constexpr size_t kHeaderBytes = 16;
constexpr size_t kAlignment = 8;

// Entry: kind, 0x0101, its header's size, the payload's size.
constexpr uint16_t kEntryVersion = 0x0101;
constexpr size_t kEntryBytes = 64;

// Flags of an entry.
constexpr uint64_t kLz4 = 0x2000;
constexpr uint64_t kZstd = 0x8000;
constexpr uint64_t kSpecific = 0x100000;  // sm_90a
constexpr uint64_t kFamily = 0x200000;    // sm_100f

// A record of .nvFatBinSegment: a magic, a version, two addresses.
constexpr size_t kSegmentBytes = 24;

// Of these, only headers are read.
constexpr std::array<std::string_view, 3> kContainers = {
    ".nv_fatbin", "__nv_relfatbin",
    ".nv_fatb",  // of a PE file, whose names have 8 bytes
};

// Where else NVIDIA's libraries keep device code, without the containers: cuFFT in .ldata, cuBLASLt
// and cuDNN in .cask_resource.
constexpr std::array<std::string_view, 4> kOtherPlaces = {".ldata", ".lrodata", ".cask_resource",
                                                          ".nvFatBinSegment"};

// Large sections of data that never hold device code.
constexpr std::array<std::string_view, 3> kUnwindTables = {".eh_frame", ".eh_frame_hdr",
                                                           ".gcc_except_table"};

template <class T>
T value_at(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// The entry at the beginning of `body`, or nothing where there is none.
std::optional<FatbinEntry> read_entry(Bytes body, uint64_t& size) {
  if (body.size() < kEntryBytes || value_at<uint16_t>(body, 2) != kEntryVersion) {
    return std::nullopt;
  }
  const auto header_bytes = value_at<uint32_t>(body, 4);
  const auto payload_bytes = value_at<uint64_t>(body, 8);
  const auto payload = part_of(body, header_bytes, payload_bytes);
  if (header_bytes < kEntryBytes || !payload) {
    return std::nullopt;
  }
  const auto packed_bytes = value_at<uint32_t>(body, 16);
  const auto flags = value_at<uint64_t>(body, 40);
  FatbinEntry entry;
  entry.kind = static_cast<FatbinKind>(value_at<uint16_t>(body, 0));
  if ((flags & kZstd) != 0) {
    entry.compression = FatbinCompression::Zstd;
  } else if ((flags & kLz4) != 0) {
    entry.compression = FatbinCompression::Lz4;
  }
  if ((flags & kSpecific) != 0) {
    entry.variant = 'a';
  } else if ((flags & kFamily) != 0) {
    entry.variant = 'f';
  }
  entry.architecture = value_at<uint32_t>(body, 28);
  if (entry.kind == FatbinKind::Ptx) {
    entry.ptx_major = value_at<uint16_t>(body, 26);
    entry.ptx_minor = value_at<uint16_t>(body, 24);
  }
  if (entry.compression != FatbinCompression::None) {
    entry.unpacked_bytes = value_at<uint64_t>(body, 56);
  }
  entry.payload = *payload;
  if (entry.compression != FatbinCompression::None && packed_bytes != 0) {
    entry.payload = payload->first(std::min<uint64_t>(packed_bytes, payload->size()));
  }
  size = header_bytes + payload_bytes;
  return entry;
}

// The fat binary at the beginning of `bytes`, and how many bytes of it were understood; none where
// the magic stands there by chance or nothing is in it. After a first good entry a bad one ends it,
// so that no byte is looked at twice, whatever the file says.
std::optional<Fatbin> read_fatbin(Bytes bytes, uint64_t& size) {
  const auto body = part_of(bytes, kHeaderBytes, value_at<uint64_t>(bytes, 8));
  if (!body) {
    return std::nullopt;
  }
  Fatbin fatbin;
  uint64_t at = 0;
  while (at < body->size()) {
    uint64_t entry_bytes = 0;
    const auto entry = read_entry(body->subspan(at), entry_bytes);
    if (!entry) {
      break;
    }
    fatbin.entries.push_back(*entry);
    at += entry_bytes;
  }
  if (fatbin.entries.empty()) {
    return std::nullopt;
  }
  size = kHeaderBytes + at;
  return fatbin;
}

// The first multiple of `step` from `at` on where the magic stands, or the end.
size_t find_magic(Bytes bytes, size_t at, size_t step) {
  if (step == 1) {
    const auto magic = std::bit_cast<std::array<char, sizeof(kHeaderWord)>>(kHeaderWord);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::min(text.find(std::string_view(magic.data(), magic.size()), at), bytes.size());
  }
  // Blocks without the magic are passed by without a branch for each word.
  constexpr size_t kBlock = 4096;
  while (bytes.size() - at >= kBlock) {
    uint64_t seen = 0;
    for (size_t i = 0; i < kBlock; i += kAlignment) {
      seen |= static_cast<uint64_t>(value_at<uint64_t>(bytes, at + i) == kHeaderWord);
    }
    if (seen != 0) {
      break;
    }
    at += kBlock;
  }
  for (; bytes.size() - at >= kHeaderBytes; at += kAlignment) {
    if (value_at<uint64_t>(bytes, at) == kHeaderWord) {
      return at;
    }
  }
  return bytes.size();
}

// All fat binaries of a part of a file, which begins at an offset in it.
void collect(Bytes part, uint64_t offset, std::string_view section, size_t step,
             std::vector<Fatbin>& found) {
  size_t at = 0;
  while (at + kHeaderBytes <= part.size()) {
    if (value_at<uint64_t>(part, at) != kHeaderWord) {
      at = find_magic(part, at, step);
      continue;
    }
    uint64_t size = step;
    if (auto fatbin = read_fatbin(part.subspan(at), size)) {
      fatbin->offset = offset + at;
      fatbin->section = section;
      found.push_back(std::move(*fatbin));
      size = (size + step - 1) / step * step;
    }
    at += std::min<uint64_t>(size, part.size() - at);
  }
}

// A part of a file that may hold device code.
struct Place {
  std::string_view name;
  Bytes bytes;
};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Sections of data, which are all worth a search where one of them tells of device code.
std::vector<Place> places_of(const ElfFile& elf) {
  std::vector<Place> places;
  bool device_code = false;
  for (const ElfSection& section : elf.sections) {
    device_code = device_code || is_one_of(section.name, kContainers) ||
                  is_one_of(section.name, kOtherPlaces);
    const bool data = section.type == kElfProgramBits && (section.flags & kElfCode) == 0 &&
                      !is_one_of(section.name, kUnwindTables);
    if (data && !section.bytes.empty()) {
      places.push_back({section.name, section.bytes});
    }
  }
  if (elf.sections.empty()) {
    for (const ElfSegment& segment : elf.segments) {
      if (!segment.code) {
        places.push_back({"", segment.bytes});
      }
    }
    return places;
  }
  return device_code ? places : std::vector<Place>();
}

std::vector<Place> places_of(const PeFile& pe) {
  std::vector<Place> places;
  bool device_code = false;
  for (const PeSection& section : pe.sections) {
    device_code = device_code || section.name.starts_with(".nv") || section.name == "__nv_rel";
    if (!section.code && !section.bytes.empty()) {
      places.push_back({section.name, section.bytes});
    }
  }
  return device_code ? places : std::vector<Place>();
}

}  // namespace

Result<std::vector<Fatbin>> read_fatbins(const std::shared_ptr<const MappedFile>& file) {
  std::vector<Place> places;
  if (ElfFile::is_elf(file->bytes())) {
    MYNAH_TRY(const ElfFile elf, ElfFile::parse(file));
    places = places_of(elf);
  } else if (PeFile::is_pe(file->bytes())) {
    MYNAH_TRY(const PeFile pe, PeFile::parse(file));
    places = places_of(pe);
  } else {
    std::vector<Fatbin> found;
    collect(file->bytes(), 0, "", 1, found);  // members of an archive begin at even bytes
    return found;
  }
  // Sections of a hostile file may lie over one another: each byte is looked at once.
  std::ranges::stable_sort(places, {}, [](const Place& place) { return place.bytes.data(); });
  std::vector<Fatbin> found;
  const std::byte* const begin = file->bytes().data();
  uint64_t seen = 0;
  for (const Place& place : places) {
    const auto offset = static_cast<uint64_t>(place.bytes.data() - begin);
    const uint64_t end = offset + place.bytes.size();
    // The loader maps a file by pages, so that what is aligned in memory is so in the file.
    const uint64_t first = (std::max(offset, seen) + kAlignment - 1) / kAlignment * kAlignment;
    if (first < end) {
      collect(file->bytes().subspan(first, end - first), first, place.name, kAlignment, found);
      seen = end;
    }
  }
  return found;
}

Result<uint64_t> count_declared_fatbins(const std::shared_ptr<const MappedFile>& file) {
  if (!ElfFile::is_elf(file->bytes())) {
    return 0;
  }
  MYNAH_TRY(const ElfFile elf, ElfFile::parse(file));
  const ElfSection* segment = elf.section(".nvFatBinSegment");
  return segment == nullptr ? 0 : segment->bytes.size() / kSegmentBytes;
}

}  // namespace mynah
