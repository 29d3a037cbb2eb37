// The kinds of models that are placed, with what each brings: a row a kind (kinds.cpp). Tests and
// tools name kinds and their stages by these; placement itself loops over kinds().
#pragma once

#include "place/kinds/detector/detector.h"
#include "place/kinds/embed/embed.h"
#include "place/kinds/llm/llm.h"
#include "place/kinds/voice/voice.h"
#include "place/kinds/windows/windows.h"
#include "place/terms/kind.h"
