// PlacementReport: where an answer was computed, and why there: what every answer can carry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace mynah {

struct NotChosen {
  std::string device;
  std::string why;  // "failed its proof: ..."
};

// Why a model's stages that are on one device are there, as a whole.
struct TogetherReasons {
  std::string why;
  std::vector<NotChosen> others;
};

// Memory that was planned for a stage of a model that grows with its texts.
struct PlannedMemory {
  uint64_t bytes = 0;       // all of it
  int64_t context = 0;      // tokens that there is room for
  uint64_t text_bytes = 0;  // of `bytes`, what these may take
};

struct StagePlacement {
  std::string stage;                     // "stt.encoder"
  std::string model;                     // its file or folder
  std::string device;                    // "cuda:0"
  std::string architecture;              // what it is compiled for: "avx512_vnni", "sm_89"
  std::string storage;                   // the type of the weights: "int8"; "": the file's own
  uint64_t bytes = 0;                    // that the device's pool holds for mynah
  std::optional<PlannedMemory> planned;  // none: it does not grow
  std::string memory_with;  // the stage before that has the same pool, with its bytes; "": none
  uint64_t kernels = 0;     // launched; 0 where a device has none
  uint64_t operations = 0;
  double milliseconds = 0;             // spent so far; 0: nobody measured
  std::optional<double> worst_error;   // against the processor, in its proof; none: not proven
  double error_bound = 0;              // what is allowed of it
  std::optional<double> proven_ago_s;  // seconds; none: not proven
  std::optional<double> expected_ms;   // for a second of sound, by measurement
  std::string why;                     // why there
  std::vector<NotChosen> others;       // and why not elsewhere
  // Of the first of a model's stages that are together, where their times were compared as a whole.
  std::optional<TogetherReasons> together;
};

// The work went on elsewhere.
struct PlacementMove {
  std::string stages;  // "stt"
  std::string model;   // its file or folder
  std::string from;
  std::string to;  // "": nowhere, it was refused
  std::string reason;
  std::string doubted{};  // what was given out before and may be wrong: "clause 2"; "": nothing
};

struct PlacementReport {
  std::vector<StagePlacement> stages;
  std::vector<PlacementMove> moves;
  std::optional<double> proof_ms;  // waited for proofs; none: what is kept sufficed
};

// As it stands in JSON answers under "placement".
[[nodiscard]] nlohmann::ordered_json to_json(const PlacementReport& report);

}  // namespace mynah
