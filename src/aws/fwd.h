// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::aws {

class Caller;
class CredentialChain;
struct Element;

}  // namespace fairlead::aws
