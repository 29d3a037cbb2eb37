// What the tests of faults (fault_matrix.py, random_faults.py) cannot do in Python:
//   whisper FILE            writes a small Whisper with weights from a seeded generator
//   languages FILE          the same, of one that knows many languages
//   writing FILE            the same, a language model
//   favour FOLDER DEVICE    makes every proof in FOLDER say that DEVICE is a thousand times as fast
//                           as it is, so that `auto` prefers a simulated card
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "chat/tiny_language.h"
#include "cli/whisper_file.h"
#include "place/proofs/kept_file.h"
#include "place/proofs/kept_types.h"

namespace {

namespace place = mynah::place;

// Which device a proof is of stands in its key, which is read as it is there.
bool favour_proof(const std::string& file, std::string_view device, int& favoured) {
  const auto mapped = mynah::MappedFile::open(file);
  if (!mapped || (*mapped)->bytes().size() < place::kKeptChecksum) {
    return false;
  }
  std::string kind;
  std::string key;
  place::WakeState awake;
  place::Proof proof;
  if (!place::read_wire((*mapped)->bytes().subspan(place::kKeptChecksum), kind, key, awake,
                        proof)) {
    return false;
  }
  for (place::Measurement& measured : proof.measurements) {
    if (measured.device == device) {
      measured.ms_per_unit /= 1000;
      ++favoured;
    }
  }
  place::write_kept_file(file, kind, key, awake, proof);
  return true;
}

int favour(const std::filesystem::path& folder, std::string_view device) {
  int favoured = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".proof" &&
        !favour_proof(entry.path().string(), device, favoured)) {
      std::cerr << entry.path() << ": not a proof as it is written here\n";
      return 1;
    }
  }
  return favoured > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && (words[0] == "whisper" || words[0] == "languages")) {
    const mynah::whisper::Config config = mynah::test::tiny_config(words[0] == "languages");
    mynah::cli::write_whisper(words[1], config, mynah::test::tiny_vocabulary(config));
    return std::filesystem::exists(words[1]) ? 0 : 1;
  }
  if (words.size() == 2 && words[0] == "writing") {
    mynah::test::write_tiny_language(words[1], mynah::test::kTinyTemplate,
                                     2);  // of which one may be elsewhere
    return std::filesystem::exists(words[1]) ? 0 : 1;
  }
  if (words.size() == 3 && words[0] == "favour") {
    return favour(words[1], words[2]);
  }
  std::cerr
      << "usage: place_tool whisper FILE | languages FILE | writing FILE | favour FOLDER DEVICE\n";
  return 2;
}
