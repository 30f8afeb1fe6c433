// What no decision needs to know of an object goes before the object is kept.
#pragma once

#include "api/codec/json.h"

namespace maniple {

// What containers run, and with which variables, of pods and of the templates in jobs: it may be
// large, and secret.
void LeaveOutWhatRuns(Json& object);

}  // namespace maniple
