#include "doctor/diagnose.h"

namespace mynah::doctor {

Report diagnose(const Facts& /*facts*/, const Knowledge& /*knowledge*/) {
  return {};
}

}  // namespace mynah::doctor
