// What mynah asks of a worker, and how it answers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "place/terms/stage.h"
#include "speech/probe.h"

namespace mynah::place {

// Descriptors that a worker finds when it starts.
inline constexpr int kWorkerSocket = 3;
inline constexpr int kWorkerPulse = 4;     // a Pulse
inline constexpr int kWorkerRequests = 5;  // the segment that requests lie in
inline constexpr int kWorkerAnswers = 6;   // that of answers

// All of them, in the order in which a lane's come with Ask::NewLane.
inline constexpr std::array kWorkerDescriptors = {kWorkerSocket, kWorkerPulse, kWorkerRequests,
                                                  kWorkerAnswers};

// The first argument of a process that is a worker.
inline constexpr const char* kWorkerArgument = "--worker-process";

// What `ps` and `top` call it: its program may be a link that says nothing.
inline constexpr const char* kWorkerName = "mynah";

// Requests, with what they carry -> what is answered.
enum class Ask : uint32_t {
  Settings = 1,   // DeviceSettings, vector<Fault> ->
  OpenDetector,   // DetectorFile, StageDevice -> DetectorFacts
  OpenWindows,    // WindowsFile, StageDevice encoder, decoder ->
  OpenVoice,      // VoiceModelFile, StageDevice acoustic, vocoder -> VoiceModelFacts
  OpenLanguage,   // LanguageFile, StageDevice of the lower layers, of the rest -> LanguageFacts
  CloseGroup,     // StageGroup ->
  NewDecoder,     // DecodingOptions -> uint64 decoder
  DropDecoder,    // uint64 decoder ->
  Decode,         // uint64 decoder, vector<WindowTask> -> vector<WindowText>, WindowTimings
  Draft,          // uint64 decoder, WindowTask -> WindowText
  Listen,         // vector<byte> state, samples, bool flush -> probabilities, vector<byte> state
  Probabilities,  // vector<recording> -> vector<probabilities>
  Speak,          // vector<PhonemeWord>, VoiceSettings -> ClauseSound
  FindVoice,      // string -> VoiceFacts
  NewSession,     // -> uint64 session, of the open language model
  DropSession,    // uint64 session ->
  Write,          // uint64 session, StepRequest -> vector<ChosenToken>
  Report,         // -> vector<StageReport>
  Probe,          // StageGroup -> ProbeReport
  Operations,     // string device -> vector<OperationOutcome>
  Driver,         // GpuSearch -> DriverOutcome
  Cards,          // NvmlSearch, vector<string> addresses -> NvmlFacts
  Check,          // string device ->
  FullWindow,     // -> FullWindow of the open windows
  NewLane,        // its kWorkerDescriptors, beside the bytes ->
  OpenEmbedder,   // EmbeddingFile, StageDevice -> EmbeddingFacts
  Embed,          // TokenTexts -> vectors, one behind the other
};

// The kind of an answer.
enum class Answer : uint32_t {
  Done = 1,  // what was asked for
  Refused,   // Error: what was asked for cannot be, and the worker is as it was
  Failed,    // Error: the device failed, and nothing more can be asked of the worker
};

// What a device computed of one case of a family of operations (place/workers/operation_cases.h).
struct OperationOutcome {
  std::string name;           // "lstm"
  std::vector<float> values;  // of the result
};

// What one stage of a probe took.
struct ProbeTime {
  Stage stage;
  double milliseconds = 0;
  double longest_step_ms = 0;  // between two operations
  double step_work = 1;        // as in Measurement
};

// What a full window takes of a device, decoded into as many sequences as usual.
struct FullWindow {
  WindowMemory memory;
  std::vector<ProbeTime> times;
};

// A probe as a worker ran it.
struct ProbeReport {
  Probe probe;
  std::vector<ProbeTime> times;
};

// What a stage in a worker did so far.
struct StageReport {
  Stage stage;
  std::string device;        // "cuda:0"
  std::string architecture;  // Backend::description()
  uint64_t bytes = 0;        // held on the device
  uint64_t operations = 0;
  uint64_t launches = 0;  // kernels; 0 where a device has none
  double milliseconds = 0;
  uint64_t memory_free = 0;  // of the device's own memory; 0 and 0: it has none, or does not tell
  uint64_t memory_total = 0;
};

}  // namespace mynah::place
