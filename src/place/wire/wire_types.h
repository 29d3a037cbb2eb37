// The fields of what passes between mynah and its workers (place/wire/wire.h), each once for both
// ways: of what every kind of model has. What is of one kind stands with it in kinds/.
#pragma once

#include <variant>

#include "place/terms/measurement.h"
#include "place/terms/workload.h"
#include "place/wire/fault.h"
#include "place/wire/wire.h"
#include "place/wire/worker_protocol.h"

namespace mynah::place {

template <>
inline constexpr size_t kWireValues<ErrorCode> = static_cast<size_t>(ErrorCode::Usage) + 1;
template <>
inline constexpr size_t kWireValues<DType> = kDTypeCount;
template <>
inline constexpr size_t kWireValues<Precision> = static_cast<size_t>(Precision::Fast) + 1;
template <>
inline constexpr size_t kWireValues<FaultKind> = static_cast<size_t>(FaultKind::Stop) + 1;
template <>
inline constexpr size_t kWireValues<StageGroup> = std::variant_size_v<ModelFile>;

// A stage passes as its number: another number is none.
template <class Archive>
void wire(Archive& a, Stage& v) {
  auto number = static_cast<uint8_t>(number_of(v));
  a(number);
  if (number >= all_stages().size()) {
    if constexpr (requires { a.refuse(); }) {
      a.refuse();
    }
  } else if (const Stage stage = all_stages()[number]; stage != v) {
    v = stage;
  }
}

// A field that is added to one of these structs must be added here: a test counts them.
template <class Archive>
void wire(Archive& a, StageDevice& v) {
  a(v.device, v.storage);
}

template <class Archive>
void wire(Archive& a, AnotherMynah& v) {
  a(v.name, v.host, v.port, v.secure, v.key_file, v.ca_file, v.prefer, v.fingerprint);
}

template <class Archive>
void wire(Archive& a, DeviceSettings& v) {
  a(v.cuda_driver, v.visible_devices, v.cuda_level, v.image_folder, v.threads, v.mynahs);
}

template <class Archive>
void wire(Archive& a, Fault& v) {
  a(v.stage, v.kind, v.call);
}

template <class Archive>
void wire(Archive& a, StageReport& v) {
  a(v.stage, v.device, v.architecture, v.bytes, v.operations, v.launches, v.milliseconds,
    v.memory_free, v.memory_total);
}

template <class Archive>
void wire(Archive& a, ProbeStage& v) {
  a(v.stage, v.values);
}

template <class Archive>
void wire(Archive& a, Probe& v) {
  a(v.stages, v.sound_s);
}

template <class Archive>
void wire(Archive& a, ProbeTime& v) {
  a(v.stage, v.milliseconds, v.longest_step_ms, v.step_work);
}

template <class Archive>
void wire(Archive& a, ProbeReport& v) {
  a(v.probe, v.times);
}

template <class Archive>
void wire(Archive& a, WindowMemory& v) {
  a(v.bytes, v.window_bytes);
}

template <class Archive>
void wire(Archive& a, FullWindow& v) {
  a(v.memory, v.times);
}

template <class Archive>
void wire(Archive& a, OperationOutcome& v) {
  a(v.name, v.values);
}

template <class Archive>
void wire(Archive& a, Measurement& v) {
  a(v.stage, v.device, v.storage, v.passed, v.failure, v.ms_per_unit, v.longest_step_ms,
    v.step_work, v.bytes, v.window_bytes, v.worst_error, v.error_bound);
}

template <class Archive>
void wire(Archive& a, Error& v) {
  a(v.code, v.message);
}

}  // namespace mynah::place
