// The TSIG key in a Secret: `name` (the Secret's own by default), `algorithm` (hmac-sha256 by default) and `secret`,
// the base64 text that tsig-keygen prints. Pure.
#pragma once

#include "base/result.h"
#include "dns/tsig.h"
#include "store/object.h"

namespace fairlead::dnsfeed {

// Errors: invalid; never says what is secret.
Result<dns::TsigKey> tsig_key_of(const store::Object& secret);

}  // namespace fairlead::dnsfeed
