// The addon's exports: exactly what `NativeAddon` in ts/native.ts declares.
#include "addon.h"

#include "arguments.h"

NAPI_MODULE_INIT() {
  s3a::setFunction(env, exports, "createReactor", s3a::createReactor);
  s3a::setFunction(env, exports, "createDigester", s3a::createDigester);
  s3a::setFunction(env, exports, "allocateAligned", s3a::allocateAligned);
  s3a::setFunction(env, exports, "preallocate", s3a::preallocate);
  s3a::setFunction(env, exports, "lockFile", s3a::lockFile);
  s3a::setFunction(env, exports, "adviseCold", s3a::adviseCold);
  s3a::setFunction(env, exports, "checksumOf", s3a::checksumOf);
  s3a::setFunction(env, exports, "lentPagesSurvive", s3a::lentPagesSurvive);
  s3a::setFunction(env, exports, "raiseFileLimit", s3a::raiseFileLimit);
  return exports;
}
