#include "tensor/step_runner.h"

#include "tensor/backend.h"

namespace mynah {

namespace {

class PlainStepRunner final : public StepRunner {
 public:
  explicit PlainStepRunner(Backend& backend) : backend_(backend) {}

  void run(FunctionRef<void(const BufferRef& memory)> fn, std::span<std::byte> result) override {
    const BufferRef memory = backend_.allocate(result.size());
    fn(memory);
    const auto bytes = static_cast<int64_t>(result.size());
    backend_.download(Tensor(memory, 0, {bytes}, DType::U8, backend_.device()), result.data());
  }

 private:
  Backend& backend_;
};

}  // namespace

std::unique_ptr<StepRunner> make_plain_step_runner(Backend& backend) {
  return std::make_unique<PlainStepRunner>(backend);
}

}  // namespace mynah
