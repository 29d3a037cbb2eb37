// What the tests of faults (fault_matrix.py, random_faults.py) cannot do in Python:
//   whisper FILE            writes a small Whisper with weights from a seeded generator
//   favour FOLDER DEVICE    makes every proof in FOLDER say that DEVICE is a thousand times as fast
//                           as it is, so that `auto` prefers a simulated card
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "cli/whisper_file.h"
#include "place/wire_types.h"

namespace {

using mynah::place::Measurement;

// A proof's file, as place/proof_store.cpp writes it.
struct ProofFile {
  std::string kind;
  std::string key;
  std::string boot_id;
  int64_t suspended_ms = 0;
  std::vector<Measurement> measurements;
  int64_t made_at = 0;
};

int favour(const std::filesystem::path& folder, std::string_view device) {
  int favoured = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".proof") {
      continue;
    }
    ProofFile proof;
    const auto mapped = mynah::MappedFile::open(entry.path().string());
    if (!mapped ||
        !mynah::place::read_wire((*mapped)->bytes(), proof.kind, proof.key, proof.boot_id,
                                 proof.suspended_ms, proof.measurements, proof.made_at)) {
      std::cerr << entry.path() << ": not a proof as it is written here\n";
      return 1;
    }
    for (Measurement& measured : proof.measurements) {
      if (measured.device == device) {
        measured.ms_per_unit /= 1000;
        ++favoured;
      }
    }
    mynah::place::WireWriter writer;
    writer(proof.kind, proof.key, proof.boot_id, proof.suspended_ms, proof.measurements,
           proof.made_at);
    const auto bytes = writer.bytes();
    std::ofstream(entry.path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  return favoured > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "whisper") {
    const mynah::whisper::Config config = mynah::test::tiny_config(false);
    mynah::cli::write_whisper(words[1], config, mynah::test::tiny_vocabulary(config));
    return std::filesystem::exists(words[1]) ? 0 : 1;
  }
  if (words.size() == 3 && words[0] == "favour") {
    return favour(words[1], words[2]);
  }
  std::cerr << "usage: place_tool whisper FILE | favour FOLDER DEVICE\n";
  return 2;
}
