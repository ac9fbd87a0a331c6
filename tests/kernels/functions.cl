/* For tests of the software device: functions and a variable that a module exports, and a kernel that calls a
   function of any module. */
typedef float (*function)(float);

float factor = 2;

float scaled(float x);
float scaled(float x) {
    return factor * x;
}

KERNEL(apply, BUFFER(float, y), VALUE(function, f)) {
    FOR_EACH_ITEM {
        uint i = GLOBAL_ID(0);
        STORE(y, i, f(LOAD(y, i)));
    }
}
