// What is there, and what it takes to use it.
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/programs/programs.h"
#include "base/process.h"
#include "check.h"
#include "gpu/machine.h"
#include "ops/ops.h"

namespace mynah::gpucheck {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// What a PyTorch here reaches with bfloat16, f32 and int8 products of 8192 cubed, a copy, and the
// layers of Whisper's encoders in half precision (its two convolutions left out): the best that the
// machine's own libraries do. Prints a JSON object.
constexpr const char* kPeer = R"(
import json, torch
def seconds(work):
    for _ in range(3): work()
    torch.cuda.synchronize()
    times = []
    for _ in range(9):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record(); work(); b.record(); torch.cuda.synchronize()
        times.append(a.elapsed_time(b) / 1000)
    return sorted(times)[4]
n = 8192
out = {"torch": torch.__version__, "device": torch.cuda.get_device_name(0)}
operations = 2.0 * n ** 3
for name, dtype in (("bf16", torch.bfloat16), ("f16", torch.float16), ("f32", torch.float32)):
    x, w = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
    out[name] = operations / seconds(lambda: x @ w.T)
try:
    x, w = (torch.randint(-100, 100, (n, n), device="cuda", dtype=torch.int8) for _ in range(2))
    out["int8"] = operations / seconds(lambda: torch._int_mm(x, w.T))
except Exception as e:
    out["int8_error"] = str(e)[:200]
x = torch.empty(1 << 30, device="cuda", dtype=torch.float32)
y = torch.empty_like(x)
out["copy_bytes_per_s"] = 2.0 * x.nbytes / seconds(lambda: y.copy_(x))
for m in (4096,):
    x, w = (torch.randn(m, m, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out["bf16_4096"] = 2.0 * m ** 3 / seconds(lambda: x @ w.T)
for name, width, layers in (("base", 512, 6), ("large-v3", 1280, 32)):
    layer = torch.nn.TransformerEncoderLayer(width, width // 64, 4 * width, activation="gelu", batch_first=True, norm_first=True)
    encoder = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).half().cuda().eval()
    for windows, stage in ((1, "encoder 30 s"), (16, "encoder 16 x 30 s")):
        x = torch.randn(windows, 1500, width, device="cuda", dtype=torch.float16)
        with torch.inference_mode():
            out[f"{name}, {stage}"] = seconds(lambda: encoder(x))
print(json.dumps(out))
)";

Result<std::string> output_of(const std::string& program, std::vector<std::string> arguments) {
  MYNAH_TRY(Pipe pipe, Pipe::create());
  MYNAH_TRY(Process process, Process::spawn({.program = program,
                                             .arguments = std::move(arguments),
                                             .descriptors = {{pipe.write_end.get(), 1}},
                                             .environment = inherited_environment(),
                                             .group = ProcessGroup::Ours}));
  pipe.write_end.reset();
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = ::read(pipe.read_end.get(), part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<size_t>(n));
  }
  MYNAH_TRY(const auto end, process.wait(std::nullopt));
  if (!end || !end->ok()) {
    return fail(ErrorCode::Device, program + " failed");
  }
  return text;
}

}  // namespace

Status check_facts(const Options& options) {
  const gpu::Machine machine = gpu::read_machine();
  Json row{{"row", "machine"},
           {"host", host_name()},
           {"kernel_driver", machine.kernel_driver},
           {"open_kernel_module", machine.open_kernel_module},
           {"container", machine.container},
           {"wsl", machine.wsl},
           {"cards_on_pci", machine.pci_cards.size()}};
  say(row);
  MYNAH_TRY(const Subject subject, open_subject(options));
  say({{"row", "device"},
       {"description", subject.backend->description()},
       {"processor", subject.cpu->description()}});
  if (!subject.card) {
    return {};
  }
  const gpu::Driver& driver = *subject.gpus->driver;
  const gpu::GpuDevice& card = *subject.card;
  say({{"row", "card"},
       {"name", card.name},
       {"uuid", card.uuid},
       {"pci", card.pci_bus_id},
       {"compute_capability", fmt::format("{}.{}", card.compute_major, card.compute_minor)},
       {"multiprocessors", card.multiprocessors},
       {"memory_bytes", card.memory_bytes},
       {"l2_bytes", card.l2_bytes},
       {"shared_bytes_per_block", card.shared_bytes_per_block},
       {"theoretical_bytes_per_s", card.theoretical_bandwidth()},
       {"mig", card.mig},
       {"integrated", card.integrated},
       {"memory_pools", card.memory_pools},
       {"launch_timeout", card.launch_timeout},
       {"driver", driver.release()},
       {"cuda", fmt::format("{}.{}", driver.version() / 1000, driver.version() % 1000 / 10)},
       {"driver_path", driver.path()},
       {"programs", cuda::programs().size()}});
  return {};
}

Status check_ceiling(const Options& options) {
  MYNAH_TRY(const Subject subject, open_subject(options));
  Backend& backend = *subject.backend;
  // Far beyond any cache.
  const int64_t rows = options.quick ? 64 : 1 << 18;
  constexpr int64_t kColumns = 1024;
  const Tensor x = ops::zeros(backend, {rows, kColumns});
  const Tensor y = ops::empty(backend, {rows, kColumns});
  const auto bytes = static_cast<double>(rows * kColumns * 4);
  const double copying = seconds_of(backend, options.quick, [&] { ops::copy_into(backend, x, y); });
  const double reading = seconds_of(backend, options.quick, [&] { (void)ops::sum(backend, x); });
  say({{"row", "memory"},
       {"bytes", bytes},
       {"copy_bytes_per_s", 2 * bytes / copying},
       {"read_bytes_per_s", bytes / reading}});
  const Tensor one = ops::zeros(backend, {1, 32});
  say({{"row", "launch"}, {"seconds", seconds_of(backend, options.quick, [&] {
                             (void)ops::affine(backend, one, 1.0F, 0.0F);
                           })}});
  return {};
}

Status check_peer(const Options& options) {
  const auto python = find_program("python3");
  if (options.quick || !python) {
    say({{"row", "peer"}, {"note", "not asked"}});
    return {};
  }
  const auto text = output_of(*python, {"-c", kPeer});
  if (!text) {
    say({{"row", "peer"}, {"note", "no PyTorch that runs here"}});
    return {};
  }
  Json row = Json::parse(*text, nullptr, false);
  if (row.is_discarded()) {
    return fail(ErrorCode::Device, "PyTorch's answer was no JSON: " + *text);
  }
  row["row"] = "peer";
  say(row);
  return {};
}

}  // namespace mynah::gpucheck
